/* ML-KEM-512's encapsulation, FIPS 203 algorithm 17, for processors with 2 kB of RAM: the public key stays where it lies, in flash for
 * example, and the ciphertext goes out as it is computed. The same in bytes as ws_ml_kem_512_encapsulate (ml_kem.h).
 *
 * Constant time as there: the matrix comes of rho, which is public, by rejection; whether a key was refused shows.
 *
 * Held are one sum, one polynomial of r and one Keccak state: a polynomial of r is made four times, and not two, as where the vector is
 * kept. RAM: none. Stack: 1.4 kB, beside the frames and what the application's functions take. */
#ifndef WS_ML_KEM_PIECES_H
#define WS_ML_KEM_PIECES_H

#include "ml_kem.h"

/* Makes a shared secret and what tells it to the key's owner, after the check of section 7.2.
 *
 * in:  m: random and secret.
 * out: shared: must not overlap m.
 * Returns 0, or -1 and writes nothing when the key has a coefficient that is not below q. */
int ws_ml_kem_512_encapsulate_pieces(const uint8_t m[32], uint8_t shared[32]);

/* The application supplies these two. */

/* Gives count bytes of the public key, from its byte `offset` on: at most 24, all of them the key's. It is read from its beginning to its
 * end, and its first 768 bytes then once more. They must be the same: a key of zeros instead of them would show m in the ciphertext. So
 * one that comes by radio has to be stored and authenticated before. out: to. */
void ws_ml_kem_512_read_key(uint16_t offset, uint8_t *to, uint8_t count);

/* Takes count bytes of the ciphertext, those from its byte `offset` on: in their order, 20 or 8 at a time, all 768 in the end. They are
 * secret to nobody. in: piece: its bytes are there during the call. */
void ws_ml_kem_512_write_ciphertext(uint16_t offset, const uint8_t *piece, uint8_t count);

#endif
