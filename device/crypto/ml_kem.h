/* ML-KEM-512 and ML-KEM-768, FIPS 203.
 *
 * Byte strings are the standard's: an encapsulation key is the encoded vector t, and rho; a decapsulation key the encoded vector s, the
 * encapsulation key, H of that, and z.
 *
 * Constant time but for what is public: the matrix, which comes of rho by rejection; the ciphertext; whether a key was refused. What a
 * wrong ciphertext gives is a key that nobody knows (implicit rejection), in the same time and way as a right one.
 *
 * Nothing larger than the vector r or s is held: the matrix is multiplied as it is made, a public key read as it is used, a ciphertext
 * written or compared as it is computed. RAM: none. Stack: 1.9 kB for ML-KEM-512 and 2.4 kB for ML-KEM-768, beside the frames.
 *
 * Random bytes, d, z and m, are the caller's to make (drbg.h) and to wipe. */
#ifndef WS_ML_KEM_H
#define WS_ML_KEM_H

#include <stdint.h>

#define WS_ML_KEM_512_PUBLIC_KEY 800
#define WS_ML_KEM_512_PRIVATE_KEY 1632
#define WS_ML_KEM_512_CIPHERTEXT 768
#define WS_ML_KEM_768_PUBLIC_KEY 1184
#define WS_ML_KEM_768_PRIVATE_KEY 2400
#define WS_ML_KEM_768_CIPHERTEXT 1088

/* Makes a key pair, algorithm 16. in: d, z: random and secret. out: public_key; private_key. Nothing may overlap them, but that public_key
 * may be where it stands in private_key, behind the first 768 bytes (ML-KEM-768: 1152). */
void ws_ml_kem_512_keygen(const uint8_t d[32], const uint8_t z[32], uint8_t public_key[WS_ML_KEM_512_PUBLIC_KEY],
                          uint8_t private_key[WS_ML_KEM_512_PRIVATE_KEY]);
void ws_ml_kem_768_keygen(const uint8_t d[32], const uint8_t z[32], uint8_t public_key[WS_ML_KEM_768_PUBLIC_KEY],
                          uint8_t private_key[WS_ML_KEM_768_PRIVATE_KEY]);

/* The same of what G makes of d: for who checks that nothing but rho, which is public, decides the time. */
void ws_ml_kem_512_keygen_seeded(const uint8_t sigma[32], const uint8_t z[32], const uint8_t rho[32],
                                 uint8_t public_key[WS_ML_KEM_512_PUBLIC_KEY],
                                 uint8_t private_key[WS_ML_KEM_512_PRIVATE_KEY]);
void ws_ml_kem_768_keygen_seeded(const uint8_t sigma[32], const uint8_t z[32], const uint8_t rho[32],
                                 uint8_t public_key[WS_ML_KEM_768_PUBLIC_KEY],
                                 uint8_t private_key[WS_ML_KEM_768_PRIVATE_KEY]);

/* Makes a shared secret and what tells it to the key's owner, algorithm 17, after the check of section 7.2.
 *
 * in:  public_key; m: random and secret.
 * out: ciphertext; shared. Nothing may overlap them.
 * Returns 0, or -1 and writes nothing when the key has a coefficient that is not below q. */
int ws_ml_kem_512_encapsulate(const uint8_t public_key[WS_ML_KEM_512_PUBLIC_KEY], const uint8_t m[32],
                              uint8_t ciphertext[WS_ML_KEM_512_CIPHERTEXT], uint8_t shared[32]);
int ws_ml_kem_768_encapsulate(const uint8_t public_key[WS_ML_KEM_768_PUBLIC_KEY], const uint8_t m[32],
                              uint8_t ciphertext[WS_ML_KEM_768_CIPHERTEXT], uint8_t shared[32]);

/* Recovers the shared secret, algorithm 18; of a ciphertext that the key's owner was not sent, one that nobody knows.
 *
 * in:  private_key, of which ws_ml_kem_*_check has once returned 0 (section 7.3 does not ask for more); ciphertext.
 * out: shared: may overlap neither. */
void ws_ml_kem_512_decapsulate(const uint8_t private_key[WS_ML_KEM_512_PRIVATE_KEY],
                               const uint8_t ciphertext[WS_ML_KEM_512_CIPHERTEXT], uint8_t shared[32]);
void ws_ml_kem_768_decapsulate(const uint8_t private_key[WS_ML_KEM_768_PRIVATE_KEY],
                               const uint8_t ciphertext[WS_ML_KEM_768_CIPHERTEXT], uint8_t shared[32]);

/* The check of a decapsulation key, section 7.3, for one that was stored or comes from elsewhere: whether H of the encapsulation key
 * in it is the one in it. Returns 0 or -1. */
int ws_ml_kem_512_check(const uint8_t private_key[WS_ML_KEM_512_PRIVATE_KEY]);
int ws_ml_kem_768_check(const uint8_t private_key[WS_ML_KEM_768_PRIVATE_KEY]);

#endif
