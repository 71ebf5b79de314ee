/* ML-DSA's challenge c, FIPS 204: a polynomial of which tau coefficients (table 1) are 1 or -1, the others 0, and products with it.
 *
 * A product is the sum of tau rotations of the other factor, with its sign changed where it goes over the end. That factor f is written
 * together with -f, so that each rotation is a place to begin at in f, -f, f, ... : for X^p at 512 - p, for -X^p at 256 - p. c is kept as these
 * places.
 *
 * Not constant time in c: a hash of what signing commits to, which whoever has the signature knows, and the one of a signature that was thrown
 * away says nothing of the private key. Constant time in the other factor. */
#ifndef WS_ML_DSA_CHALLENGE_H
#define WS_ML_DSA_CHALLENGE_H

#include "sha3.h"

#include <stdint.h>

/* SampleInBall, algorithm 29. in: tau: 64 at most; seed: seed_len bytes. out: starts: tau of them; sponge: what it is made with. */
void ws_ml_dsa_make_challenge(uint16_t *starts, uint8_t tau, ws_sha3_ctx *sponge, const uint8_t *seed, uint8_t seed_len);

/* Writes f and -f of packed numbers, each of which is taken from `from`. in: packed: 256 numbers of `bits` bits; from: the largest one, or
 * 0, where the numbers themselves are f. out: doubled. */
void ws_ml_dsa_double(int16_t doubled[512], const uint8_t *packed, uint8_t bits, int16_t from);

/* A coefficient of c f. in: starts: tau of them; doubled: f and -f; n: which. */
int32_t ws_ml_dsa_challenge_product(const uint16_t *starts, uint8_t tau, const int16_t doubled[512], uint8_t n);

/* Writes f, -f and f for an f of s1 or s2, each coefficient plus eta. in: packed: f as it is in a private key, numbers of `bits` bits; largest: of
 * them, 2 eta. out: tripled. */
void ws_ml_dsa_triple(uint8_t tripled[768], const uint8_t *packed, uint8_t bits, uint8_t largest);

/* Four coefficients of a sum of rotations of f, each plus count eta, in a byte each, the lowest first. in: starts: count of them, where 2 eta count
 * is below 256; tripled: f, -f, f; n: the first of the four. */
uint32_t ws_ml_dsa_challenge_products(const uint16_t *starts, uint8_t count, const uint8_t tripled[768], uint8_t n);

#endif
