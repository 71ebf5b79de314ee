/* What ML-DSA samples of its hashes, FIPS 204 section 7.3, one polynomial at a time.
 *
 * Constant time as in ml_dsa.h. */
#ifndef WS_ML_DSA_SAMPLE_H
#define WS_ML_DSA_SAMPLE_H

#include "sha3.h"

#include <stdint.h>

/* Bytes of an encoded polynomial of t1 and of t0. */
#define WS_ML_DSA_ENCODED_T1 320
#define WS_ML_DSA_ENCODED_T0 416

/* Adds to the sum the product of a transformed polynomial with one of the matrix: RejNTTPoly, algorithm 30, of rho, column and row. in: polynomial,
 * as b of ws_ml_dsa_accumulate. out: sponge: what it is made with. in/out: sum. */
void ws_ml_dsa_accumulate_sampled(ws_sha3_ctx *sponge, int32_t sum[256], const int32_t polynomial[256], const uint8_t rho[32], uint8_t row,
                                  uint8_t column);

/* A polynomial of y as it is encoded, ExpandMask, algorithm 34. in: bytes: of it, 576 or 640; seed; number: kappa plus the polynomial's. out:
 * sponge; encoded. */
void ws_ml_dsa_make_mask(ws_sha3_ctx *sponge, uint8_t *encoded, uint16_t bytes, const uint8_t seed[64], uint16_t number);

/* A polynomial of s1 or s2 as it is encoded, RejBoundedPoly, algorithm 31. in: seed; number: below 256; eta: 2 or 4. out: sponge; encoded: 96
 * or 128 bytes; some: what it is made in. */
void ws_ml_dsa_make_secret(ws_sha3_ctx *sponge, uint8_t *encoded, int32_t some[256], const uint8_t seed[64], uint8_t number, uint8_t eta);

/* The representative mu of a message, algorithm 2 step 10 and algorithm 7 step 6. in: tr; context; message, which are anything where they
 * are empty. out: mu. */
void ws_ml_dsa_represent(uint8_t mu[64], const uint8_t tr[64], const uint8_t *context, uint8_t context_len, const uint8_t *message,
                         size_t len);

#endif
