/* What ML-DSA samples of its hashes, FIPS 204 section 7.3, one polynomial at a time.
 *
 * Constant time as in ml_dsa.h. */
#ifndef WS_ML_DSA_SAMPLE_H
#define WS_ML_DSA_SAMPLE_H

#include "sha3.h"

#include <stdint.h>

/* Polynomials of s1, y and z, and of s2, t and w: l and k of table 1. */
#define WS_ML_DSA_L 4
#define WS_ML_DSA_K 4

/* Bytes of an encoded polynomial: of s1 and s2, t1, t0, z. */
#define WS_ML_DSA_ENCODED_S 96
#define WS_ML_DSA_ENCODED_T1 320
#define WS_ML_DSA_ENCODED_T0 416
#define WS_ML_DSA_ENCODED_Z 576

/* omega of table 1: hints at most; and where z and they begin in a signature. */
#define WS_ML_DSA_OMEGA 80
#define WS_ML_DSA_Z 32
#define WS_ML_DSA_HINTS (WS_ML_DSA_Z + WS_ML_DSA_L * WS_ML_DSA_ENCODED_Z)

/* Adds to the sum the product of a transformed polynomial with one of the matrix: RejNTTPoly, algorithm 30, of rho, column and row. in: polynomial,
 * as b of ws_ml_dsa_accumulate. out: sponge: what it is made with. in/out: sum. */
void ws_ml_dsa_accumulate_sampled(ws_sha3_ctx *sponge, int32_t sum[256], const int32_t polynomial[256], const uint8_t rho[32], uint8_t row,
                                  uint8_t column);

/* A polynomial of y as it is encoded, ExpandMask, algorithm 34. in: seed; number: kappa plus the polynomial's. out: sponge; encoded. */
void ws_ml_dsa_make_mask(ws_sha3_ctx *sponge, uint8_t encoded[WS_ML_DSA_ENCODED_Z], const uint8_t seed[64], uint16_t number);

/* A polynomial of s1 or s2 as it is encoded, RejBoundedPoly, algorithm 31. in: seed; number: below 256. out: sponge; encoded; some: what it
 * is made in. */
void ws_ml_dsa_make_secret(ws_sha3_ctx *sponge, uint8_t encoded[WS_ML_DSA_ENCODED_S], int32_t some[256], const uint8_t seed[64], uint8_t number);

/* The representative mu of a message, algorithm 2 step 10 and algorithm 7 step 6. in: tr; context; message, which are anything where they
 * are empty. out: mu. */
void ws_ml_dsa_represent(uint8_t mu[64], const uint8_t tr[64], const uint8_t *context, uint8_t context_len, const uint8_t *message,
                         size_t len);

#endif
