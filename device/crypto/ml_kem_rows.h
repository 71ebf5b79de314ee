/* Rows of ML-KEM's matrix, FIPS 203: noise, and sums of products whose one factor is sampled as it is multiplied.
 *
 * Constant time as in ml_kem.h. */
#ifndef WS_ML_KEM_ROWS_H
#define WS_ML_KEM_ROWS_H

#include "sha3.h"

#include <stdint.h>

/* Bytes of an encoded polynomial: of 12, 10 and 4 bits a coefficient. */
#define WS_ML_KEM_ENCODED 384
#define WS_ML_KEM_COMPRESSED_U 320
#define WS_ML_KEM_COMPRESSED_V 128

/* What one row is made with. */
typedef struct {
    ws_sha3_ctx sponge;
    /* The polynomial that a sum is made in. */
    int16_t sum[256];
    /* The strings of bytes are where words are faster. */
    uint8_t bytes[24];
    /* Coefficients on their way from bytes into the sum: 16 of 24 bytes, and up to three that were left. */
    int16_t some[19];
} ws_ml_kem_row;

/* All coefficients become 0. out: polynomial. */
void ws_ml_kem_clear(int16_t polynomial[256]);

/* Adds a polynomial of noise, PRF_eta of section 4.1 and algorithm 8. in: seed; n: its number; eta: 2 or 3. in/out: row; polynomial:
 * coefficients get larger by eta at most; may be the row's sum. */
void ws_ml_kem_add_prf(ws_ml_kem_row *row, int16_t polynomial[256], const uint8_t seed[32], uint8_t n, uint8_t eta);

/* Adds to the sum the product of a polynomial with one of the matrix: SampleNTT, algorithm 7, of rho, first and second. in: polynomial, as
 * b of ws_ml_kem_accumulate. in/out: row. */
void ws_ml_kem_accumulate_sampled(ws_ml_kem_row *row, const int16_t polynomial[256], const uint8_t rho[32], uint8_t first, uint8_t second);

/* G of section 4.1: SHA3-512 of two pieces, begun and finished: its 64 bytes are to be squeezed. in: first; second: count bytes.
 * in/out: row. */
void ws_ml_kem_begin_seeds(ws_ml_kem_row *row, const uint8_t first[32], const uint8_t *second, uint8_t count);

#endif
