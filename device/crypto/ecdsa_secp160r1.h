/* ECDSA with curve secp160r1 and SHA-1: FIPS 186-5 section 6 with the curve and the hash of another time, for comparison with
 * what was published about them. They withstand 2^80 steps at best, and SHA-1 does not withstand collisions.
 *
 * Keys and their bytes are those of secp160r1.h; a signature is r and s, 20 bytes each, big-endian. n lies just above 2^160:
 * r, an x below p, always fits, and a nonce whose s does not, once in 2^79 times, is drawn again. All functions return 0, or
 * -1 when they refuse; then what they would have written is zero. What is secret is wiped from their frames.
 *
 * Nonces: RFC 6979 takes 161 bits of its generator and draws again where they are not below n, which is every other time.
 * So the time of a signature would vary. Here the nonce is k = (c mod (n - 1)) + 1, FIPS 186-5 section A.3.1, where c are
 * 29 bytes, a big-endian number, of the generator that RFC 6979 section 3.2 steps a to g make: HMAC_DRBG with SHA-1 from
 * the private key (21 bytes) and the digest as a number of 21 bytes. The next one, where there is to be one, follows
 * as in step h.
 *
 * Constant time for given lengths, in signing: neither branches, addresses nor times depend on private keys, digests and
 * nonces. Verification knows no secrets, and its time depends on all that it is given.
 *
 * Stack: work areas of 232 bytes to sign, 488 to verify, beside the frames. */
#ifndef WS_ECDSA_SECP160R1_H
#define WS_ECDSA_SECP160R1_H

#include <stddef.h>
#include <stdint.h>

/* Signs len bytes.
 *
 * in:  message: any alignment, anything when len is 0. extra: additional data for the nonce, RFC 6979 section 3.6: random
 *      bytes hedge against faults and leaks that repeat, and need not be secret; anything when extra_len is 0, where
 *      the signature depends on key and message alone. Neither overlaps signature.
 * Refused: a private key of 0, or n and above. Constant time, as said above. */
int ws_ecdsa_secp160r1_sign(const uint8_t private_key[21], const uint8_t *message, size_t len, const uint8_t *extra,
                            size_t extra_len, uint8_t signature[40]);

/* The same where the message is hashed already. */
int ws_ecdsa_secp160r1_sign_digest(const uint8_t private_key[21], const uint8_t digest[20], const uint8_t *extra,
                                   size_t extra_len, uint8_t signature[40]);

/* Whether the signature is of these len bytes by the owner of the key: 0, or -1.
 *
 * Refused: a public key that ws_secp160r1_validate refuses; r or s of 0. */
int ws_ecdsa_secp160r1_verify(const uint8_t public_key[40], const uint8_t *message, size_t len,
                              const uint8_t signature[40]);

/* The same where the message is hashed already. */
int ws_ecdsa_secp160r1_verify_digest(const uint8_t public_key[40], const uint8_t digest[20], const uint8_t signature[40]);

#endif
