/* Polynomials of ML-DSA: arithmetic modulo q = 8380417, the number-theoretic transform and the roundings and encodings of FIPS 204.
 *
 * A polynomial is 4-byte aligned. A coefficient is a signed 32-bit number that stands for its residue; each function says how large it may
 * be. All is constant time for given lengths but ws_ml_dsa_sample. */
#ifndef WS_ML_DSA_POLYNOMIAL_H
#define WS_ML_DSA_POLYNOMIAL_H

#include "compiler.h"
#include "secret.h"
#include "table.h"

#include <stdint.h>

/* 2^23 - 2^13 + 1. */
#define WS_ML_DSA_Q 8380417

/* All ones where a is negative, else 0. */
WS_INLINE uint32_t ws_ml_dsa_sign_mask(int32_t a)
{
    return 0 - (uint32_t)ws_secret_bit((uint8_t)((uint32_t)a >> 31));
}

/* a / 2^16 modulo q, below a / 2^16 + q: one half of Montgomery's reduction. */
WS_INLINE uint32_t ws_ml_dsa_half_reduce(uint32_t a)
{
    /* 0xdfff is -1/q modulo 2^16, so that a + t q is divisible by 2^16: of t 2^23 that is plain, and the rest, -8191 t, takes away the lower
     * half of a. */
    const uint16_t t = (uint16_t)((uint16_t)a * 0xdfffu);

    return (a >> 16) + ((uint32_t)t << 7) - (((uint32_t)t * 8191) >> 16);
}

/* factor a / 2^32 modulo q, between -q and 17/16 q, by products of half words. in: a: between -16 q and 16 q; factor: below q. */
WS_INLINE int32_t ws_ml_dsa_product_of_halves(int32_t a, uint32_t factor)
{
    const uint32_t positive = (uint32_t)(a + (int32_t)16 * WS_ML_DSA_Q);
    const uint16_t low = (uint16_t)positive;
    const uint16_t high = (uint16_t)(positive >> 16);
    const uint16_t factor_low = (uint16_t)factor;
    const uint16_t factor_high = (uint16_t)(factor >> 16);
    const uint32_t middle =
        ws_ml_dsa_half_reduce((uint32_t)low * factor_low) + (uint32_t)low * factor_high + (uint32_t)high * factor_low;

    return (int32_t)(ws_ml_dsa_half_reduce(middle) + (uint32_t)high * factor_high) - WS_ML_DSA_Q;
}

/* The same, where a product of two words is an instruction whose time does not depend on them. The Cortex-M3 has one whose time does (DDI
 * 0337, table of instruction timings). */
WS_INLINE int32_t ws_ml_dsa_product(int32_t a, uint32_t factor)
{
#if defined(__AVR__) || defined(__MSP430__) || (defined(__arm__) && !defined(__ARM_FEATURE_DSP))
    return ws_ml_dsa_product_of_halves(a, factor);
#else
    const int64_t product = (int64_t)a * (int32_t)factor;
    /* 58728449 is 1/q modulo 2^32: the difference is divisible by 2^32. */
    const int32_t t = (int32_t)((uint32_t)product * 58728449u);

    return (int32_t)((product - (int64_t)t * WS_ML_DSA_Q) >> 32);
#endif
}

/* a modulo q, between -3/4 q and 3/4 q. in: a: below 2^31 - 2^22. */
WS_INLINE int32_t ws_ml_dsa_reduce(int32_t a)
{
    const int32_t t = (a + ((int32_t)1 << 22)) >> 23;

    return a - t * WS_ML_DSA_Q;
}

/* a modulo q, between 0 and q - 1. in: a: between -q and q - 1. */
WS_INLINE int32_t ws_ml_dsa_residue(int32_t a)
{
    return a + (int32_t)(WS_ML_DSA_Q & ws_ml_dsa_sign_mask(a));
}

/* The same for a between -q and 2 q - 1. */
WS_INLINE int32_t ws_ml_dsa_residue_of_sum(int32_t a)
{
    return ws_ml_dsa_residue(ws_ml_dsa_residue(a) - WS_ML_DSA_Q);
}

/* Decompose, algorithm 36, for gamma_2 = (q - 1) / 88. in: a: between 0 and q - 1. Returns r1, between 0 and 43. out: low: r0. */
WS_INLINE uint8_t ws_ml_dsa_decompose_88(int32_t a, int32_t *low)
{
    /* The next multiple of 2 gamma_2, which is 93 2^11: 2819 is 2^18/93, rounded; a test tries all numbers. */
    const uint16_t x = (uint16_t)((uint32_t)(a + 95232 - 1) >> 11);
    const uint8_t high = (uint8_t)(((uint32_t)x * 2819) >> 18);
    /* Those around q - 1 = 44 2 gamma_2 belong to 0, and are one less. */
    const uint8_t last = (uint8_t)(0 - ws_secret_bit((uint8_t)((uint8_t)(high + 84) >> 7)));

    *low = a - ((int32_t)((uint16_t)high * 186) << 10) - (last & 1);
    return (uint8_t)(high & ~last);
}

/* The same for gamma_2 = (q - 1) / 32. Returns r1, between 0 and 15. */
WS_INLINE uint8_t ws_ml_dsa_decompose_32(int32_t a, int32_t *low)
{
    /* 2 gamma_2 is 1023 2^9, and x/1023 is x/1024 and a 1024th of that more; a test tries all numbers. */
    const uint16_t x = (uint16_t)((uint32_t)(a + 261888 - 1) >> 9);
    const uint8_t high = (uint8_t)((uint16_t)(x + (x >> 10) + 1) >> 10);
    /* Those around q - 1 = 16 2 gamma_2, as above. */
    const uint8_t last = (uint8_t)(0 - ws_secret_bit((uint8_t)(high >> 4)));

    *low = a - ((int32_t)((uint16_t)high * 1023) << 9) - (last & 1);
    return (uint8_t)(high & ~last);
}

/* 1753 to the power of the eight bits of the index in reverse order, FIPS 204 appendix B, in Montgomery's form: times 2^32. */
WS_CONSTANT("ws_ml_dsa_zetas")
extern const uint32_t ws_ml_dsa_zetas[256];

/* NTT, algorithm 41, in place. in/out: r: coefficients between -q and q; then, in the order of the standard, between -10 q and 10 q. */
void ws_ml_dsa_ntt(int32_t r[256]);

/* NTT^-1, algorithm 42, in place, times 2^32. in/out: r: below 2^30; then between -q and 17/16 q. */
void ws_ml_dsa_inverse_ntt(int32_t r[256]);

/* Adds the products of count coefficients, divided by 2^32. in: a: between 0 and q - 1; b: between -10 q and 10 q. in/out: sum: get larger by
 * less than 17/16 q. */
void ws_ml_dsa_accumulate(int32_t *sum, const int32_t *a, const int32_t *b, uint8_t count);

/* Numbers as so many bits each, the lowest first, algorithms 16 and 18 without the subtraction; and back. count bits is a multiple of 8.
 * in: numbers: from 0 on; more bits are left out. */
void ws_ml_dsa_pack(uint8_t *out, const int32_t *numbers, uint8_t count, uint8_t bits);
void ws_ml_dsa_unpack(int32_t *numbers, const uint8_t *in, uint16_t count, uint8_t bits);

/* Gives those of 8 numbers of 23 bits that are below q, in their order: RejNTTPoly, algorithm 30 steps 4 to 10. Returns how many.
 * Not constant time: the numbers are public. out: coefficients: room for 8, of which what is not returned may be changed, too. */
uint8_t ws_ml_dsa_sample(int32_t *coefficients, const uint8_t in[24]);

#endif
