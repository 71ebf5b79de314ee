/* ML-DSA's challenge c, FIPS 204: a polynomial of 39 coefficients that are 1 or -1, and products with it.
 *
 * A product is the sum of 39 rotations of the other factor, with its sign changed where it goes over the end. That factor f is written
 * together with -f, so that each rotation is a place to begin at.
 *
 * Not constant time in c: a hash of what signing commits to, which whoever has the signature knows, and the one of a signature that was thrown
 * away says nothing of the private key. Constant time in the other factor. */
#ifndef WS_ML_DSA_CHALLENGE_H
#define WS_ML_DSA_CHALLENGE_H

#include "sha3.h"

#include <stdint.h>

/* tau of table 1. */
#define WS_ML_DSA_TAU 39

/* Where each rotation begins in f, -f, f, ... : for X^p at 512 - p, for -X^p at 256 - p. */
typedef struct {
    uint16_t starts[WS_ML_DSA_TAU];
} ws_ml_dsa_challenge;

/* SampleInBall, algorithm 29. in: seed. out: sponge: what it is made with; c. */
void ws_ml_dsa_make_challenge(ws_ml_dsa_challenge *c, ws_sha3_ctx *sponge, const uint8_t seed[32]);

/* Writes f and -f of packed numbers, each of which is taken from `from`. in: packed: 256 numbers of `bits` bits; from: the largest one, or
 * 0, where the numbers themselves are f. out: doubled. */
void ws_ml_dsa_double(int16_t doubled[512], const uint8_t *packed, uint8_t bits, int16_t from);

/* A coefficient of c f. in: doubled: f and -f; n: which. */
int32_t ws_ml_dsa_challenge_product(const ws_ml_dsa_challenge *c, const int16_t doubled[512], uint8_t n);

/* Writes f, -f and f for an f of s1 or s2, each coefficient plus 2. in: packed: f as it is in a private key. out: tripled. */
void ws_ml_dsa_triple(uint8_t tripled[768], const uint8_t packed[96]);

/* Four coefficients of c f, each plus 78, in a byte each, the lowest first. in: tripled: f, -f, f; n: the first of the four. */
uint32_t ws_ml_dsa_challenge_products(const ws_ml_dsa_challenge *c, const uint8_t tripled[768], uint8_t n);

#endif
