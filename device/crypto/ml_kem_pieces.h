/* ML-KEM-512, FIPS 203, for processors with 2 to 4 kB of RAM: public keys and ciphertexts stay where they lie, in flash for example, or go
 * out as they are computed. In bytes they are those of ml_kem.h.
 *
 * The private key is the seed that key generation begins with, which section 3.3 lets one store in the place of the decapsulation key, as
 * secret as that. The rest of that key is made anew, or is the public key, which is read back.
 *
 * Constant time as there: the matrix comes of rho, which is public, by rejection; whether a public key was refused shows.
 *
 * Held are one sum, one polynomial of r or s and one Keccak state: such a polynomial is made three or four times, and not two, as where the
 * vector is kept. Decapsulation holds one of the ciphertext, too, partly where the Keccak state is. RAM: none. Stack: 1.4 kB, for
 * decapsulation 1.6 kB, beside the frames and what the application's functions take. */
#ifndef WS_ML_KEM_PIECES_H
#define WS_ML_KEM_PIECES_H

#include "ml_kem.h"

/* d, then z: random and secret. */
#define WS_ML_KEM_512_SEED 64

/* Makes a key pair, algorithm 16, and writes its public key. Of the private key's two halves that is made of d alone.
 *
 * in: private_key. */
void ws_ml_kem_512_keygen_pieces(const uint8_t private_key[WS_ML_KEM_512_SEED]);

/* The same of what G makes of d: for who checks that nothing but rho, which is public, decides the time. */
void ws_ml_kem_512_keygen_pieces_seeded(const uint8_t sigma[32], const uint8_t rho[32]);

/* Makes a shared secret and what tells it to the key's owner, after the check of section 7.2.
 *
 * in:  m: random and secret.
 * out: shared: must not overlap m.
 * Returns 0, or -1 and writes nothing when the key has a coefficient that is not below q. */
int ws_ml_kem_512_encapsulate_pieces(const uint8_t m[32], uint8_t shared[32]);

/* Recovers the shared secret, algorithm 18; of a ciphertext that the key's owner was not sent, one that nobody knows.
 *
 * in:  private_key, whose public key ws_ml_kem_512_read_key gives.
 * out: shared: must not overlap it.
 * Returns 0, or -1 and writes nothing when the public key has a coefficient that is not below q, as erased flash has. */
int ws_ml_kem_512_decapsulate_pieces(const uint8_t private_key[WS_ML_KEM_512_SEED], uint8_t shared[32]);

/* The application supplies those of these that the functions which it calls need: key generation the first, encapsulation the second and the
 * third, decapsulation the second and the fourth. */

/* Takes count bytes of the public key, those from its byte `offset` on: in their order, 24 or 16 at a time, all 800 in the end. They are
 * secret to nobody. in: piece: its bytes are there during the call. */
void ws_ml_kem_512_write_key(uint16_t offset, const uint8_t *piece, uint8_t count);

/* Gives count bytes of the public key, from its byte `offset` on: at most 24, all of them the key's. It is read from its beginning to its
 * end, and its first 768 bytes then once more. They must be the same: a key of zeros instead of them would show m in the ciphertext. So
 * one that comes by radio has to be stored and authenticated before. One's own is as trustworthy as the memory that it lies in: with another
 * one in its place, which of somebody's ciphertexts are rejected would tell of s. out: to. */
void ws_ml_kem_512_read_key(uint16_t offset, uint8_t *to, uint8_t count);

/* Takes count bytes of the ciphertext, those from its byte `offset` on: in their order, 20 or 8 at a time, all 768 in the end. They are
 * secret to nobody. in: piece: its bytes are there during the call. */
void ws_ml_kem_512_write_ciphertext(uint16_t offset, const uint8_t *piece, uint8_t count);

/* Gives count bytes of the ciphertext, from its byte `offset` on: at most 24. It is read three times from its beginning to its end, and must
 * be the same each time: what is decrypted has to be what is compared. So one that comes by radio has to be stored before. out: to. */
void ws_ml_kem_512_read_ciphertext(uint16_t offset, uint8_t *to, uint8_t count);

#endif
