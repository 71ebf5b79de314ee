/* ML-DSA-44 and ML-DSA-65, FIPS 204: signatures of 2,420 bytes, of security category 2, and of 3,309 bytes, of category 3.
 *
 * Byte strings are the standard's: a public key is rho and the encoded vector t1; a private key rho, K, tr and the encoded vectors s1, s2
 * and t0. A message has a context string of up to 255 bytes, which may be empty (section 5.2); it is signed itself, not a digest of it.
 *
 * Verification takes its time from what it is given, which is public. Key generation and signing are constant time but for what is public
 * or comes of rejection:
 *
 * - the matrix, which comes of rho;
 * - how often signing begins anew, 4.25 times on the average, with ML-DSA-65 5.1 times, and at which polynomial each time: z, the low bits of
 *   w - c s2 or c t0 are too large there. Whether they are does not depend on the private key, which is what the rejections are for;
 * - the challenge c of each time, a hash, and of the last ones the hints;
 * - which half bytes of its hash key generation throws away, and not what the others are.
 *
 * Nothing is held that can be made again: the matrix is multiplied as it is sampled, y lies where the signature's z will be, and products
 * with c are made a coefficient at a time. RAM: none. Stack, beside the frames: 5.5 kB for signing, key
 * generation and the check of a private key, with ML-DSA-65 7.5 kB; 2.7 kB for verification.
 *
 * Random bytes, xi and rnd, are the caller's to make (drbg.h) and to wipe. */
#ifndef WS_ML_DSA_H
#define WS_ML_DSA_H

#include <stddef.h>
#include <stdint.h>

#define WS_ML_DSA_44_PUBLIC_KEY 1312
#define WS_ML_DSA_44_PRIVATE_KEY 2560
#define WS_ML_DSA_44_SIGNATURE 2420
#define WS_ML_DSA_65_PUBLIC_KEY 1952
#define WS_ML_DSA_65_PRIVATE_KEY 4032
#define WS_ML_DSA_65_SIGNATURE 3309

/* Signing gives up after so many attempts: FIPS 204 appendix C, table 3, allows no lower limit. A key
 * that keygen made reaches it with a probability of 2^-256 or less. One whose t0 does not follow from
 * the rest can need more each time. */
#define WS_ML_DSA_ATTEMPTS 814

/* Makes a key pair, algorithm 6. in: xi: random and secret. out: public_key; private_key. Nothing may overlap them. */
void ws_ml_dsa_44_keygen(const uint8_t xi[32], uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY],
                         uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY]);
void ws_ml_dsa_65_keygen(const uint8_t xi[32], uint8_t public_key[WS_ML_DSA_65_PUBLIC_KEY],
                         uint8_t private_key[WS_ML_DSA_65_PRIVATE_KEY]);

/* The same of what H makes of xi, rho' and K and rho: for who checks that nothing but rho, which is public, and what is thrown away decides
 * the time. */
void ws_ml_dsa_44_keygen_seeded(const uint8_t rho_prime[64], const uint8_t k[32], const uint8_t rho[32],
                                uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY]);
void ws_ml_dsa_65_keygen_seeded(const uint8_t rho_prime[64], const uint8_t k[32], const uint8_t rho[32],
                                uint8_t public_key[WS_ML_DSA_65_PUBLIC_KEY], uint8_t private_key[WS_ML_DSA_65_PRIVATE_KEY]);

/* Signs a message, algorithm 2.
 *
 * in:  private_key: one that ws_ml_dsa_*_keygen made, or ws_ml_dsa_*_check takes; context: context_len
 *      bytes, anything when that is 0; message: len bytes, likewise; rnd: random and secret, or, for the
 *      same signature each time (the deterministic variant), zeros.
 * out: signature; may overlap nothing. Holds secrets until it is done.
 * Returns 0, or -1 after WS_ML_DSA_ATTEMPTS attempts; the signature is zeros then. Do not try such a key
 * again: check it. */
int ws_ml_dsa_44_sign(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY], const uint8_t *context, uint8_t context_len,
                      const uint8_t *message, size_t len, const uint8_t rnd[32], uint8_t signature[WS_ML_DSA_44_SIGNATURE]);
int ws_ml_dsa_65_sign(const uint8_t private_key[WS_ML_DSA_65_PRIVATE_KEY], const uint8_t *context, uint8_t context_len,
                      const uint8_t *message, size_t len, const uint8_t rnd[32], uint8_t signature[WS_ML_DSA_65_SIGNATURE]);

/* Verifies a signature, algorithm 3. in: as of ws_ml_dsa_*_sign. Returns 0 where it is good, else -1: also for one whose z is too large or
 * whose hints are not encoded as algorithm 20 does. */
int ws_ml_dsa_44_verify(const uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], const uint8_t *context, uint8_t context_len,
                        const uint8_t *message, size_t len, const uint8_t signature[WS_ML_DSA_44_SIGNATURE]);
int ws_ml_dsa_65_verify(const uint8_t public_key[WS_ML_DSA_65_PUBLIC_KEY], const uint8_t *context, uint8_t context_len,
                        const uint8_t *message, size_t len, const uint8_t signature[WS_ML_DSA_65_SIGNATURE]);

/* Signing and verification of a message's representative mu, for a message that comes in pieces: SHAKE256, 64 bytes (sha3.h), of tr, a zero byte, the context's
 * length, the context and the message. tr is SHAKE256 of the public key, 64 bytes, and in a private key from the byte 64 on. */
int ws_ml_dsa_44_sign_mu(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY], const uint8_t mu[64], const uint8_t rnd[32],
                         uint8_t signature[WS_ML_DSA_44_SIGNATURE]);
int ws_ml_dsa_44_verify_mu(const uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], const uint8_t mu[64],
                           const uint8_t signature[WS_ML_DSA_44_SIGNATURE]);
int ws_ml_dsa_65_sign_mu(const uint8_t private_key[WS_ML_DSA_65_PRIVATE_KEY], const uint8_t mu[64], const uint8_t rnd[32],
                         uint8_t signature[WS_ML_DSA_65_SIGNATURE]);
int ws_ml_dsa_65_verify_mu(const uint8_t public_key[WS_ML_DSA_65_PUBLIC_KEY], const uint8_t mu[64],
                           const uint8_t signature[WS_ML_DSA_65_SIGNATURE]);

/* Checks a private key that was stored or comes from elsewhere: all of s1 and s2 is between -eta and eta
 * (algorithm 25 asks for it; eta is 2, of ML-DSA-65 4), t0 is the low bits of A s1 + s2, and tr is the
 * hash of the public key that follows. A t0 of a stranger's choice makes signing begin anew without end.
 * Takes the time and the stack of key generation. Returns 0 or -1. Constant time, but for rho, and for
 * whether s1 and s2 are in range. */
int ws_ml_dsa_44_check(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY]);
int ws_ml_dsa_65_check(const uint8_t private_key[WS_ML_DSA_65_PRIVATE_KEY]);

#endif
