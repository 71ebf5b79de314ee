#include "ml_kem_polynomial.h"

#include "table.h"

/* 17 to the power of the seven bits of the index in reverse order, FIPS 203 appendix A, in Montgomery's form: times 2^16. */
WS_CONSTANT("ws_ml_kem_zetas")
static const uint16_t zetas[128] = {
    2285, 2571, 2970, 1812, 1493, 1422, 287, 202, 3158, 622, 1577, 182, 962, 2127, 1855, 1468,
    573, 2004, 264, 383, 2500, 1458, 1727, 3199, 2648, 1017, 732, 608, 1787, 411, 3124, 1758,
    1223, 652, 2777, 1015, 2036, 1491, 3047, 1785, 516, 3321, 3009, 2663, 1711, 2167, 126, 1469,
    2476, 3239, 3058, 830, 107, 1908, 3082, 2378, 2931, 961, 1821, 2604, 448, 2264, 677, 2054,
    2226, 430, 555, 843, 2078, 871, 1550, 105, 422, 587, 177, 3094, 3038, 2869, 1574, 1653,
    3083, 778, 1159, 3182, 2552, 1483, 2727, 1119, 1739, 644, 2457, 349, 418, 329, 3173, 3254,
    817, 1097, 603, 610, 1322, 2044, 1864, 384, 2114, 3193, 1218, 1994, 2455, 220, 2142, 1670,
    2144, 1799, 2051, 794, 1819, 2475, 2459, 478, 3221, 3021, 996, 991, 958, 1869, 1522, 1628,
};

static void reduce(int16_t r[256])
{
    uint16_t i;

    for (i = 0; i < 256; i++) {
        r[i] = ws_ml_kem_barrett(r[i]);
    }
}

void ws_ml_kem_ntt(int16_t r[256])
{
    uint8_t zeta = 1;
    uint8_t len;

    for (len = 128; len >= 2; len >>= 1) {
        int16_t *low = r;

        while (low < r + 256) {
            const uint16_t factor = ws_table_u16(&zetas[zeta++]);
            int16_t *const middle = low + len;

            for (; low < middle; low++) {
                const int16_t t = ws_ml_kem_product(low[len], factor);

                low[len] = *low - t;
                *low += t;
            }
            low += len;
        }
    }
    reduce(r);
}

void ws_ml_kem_inverse_ntt(int16_t r[256])
{
    uint8_t zeta = 127;
    uint16_t len;
    uint16_t i;

    reduce(r);
    for (len = 2; len <= 128; len <<= 1) {
        int16_t *low = r;

        while (low < r + 256) {
            const uint16_t factor = ws_table_u16(&zetas[zeta--]);
            int16_t *const middle = low + len;

            for (; low < middle; low++) {
                const int16_t t = *low;

                *low = ws_ml_kem_barrett(t + low[len]);
                low[len] = ws_ml_kem_product(low[len] - t, factor);
            }
            low += len;
        }
    }
    /* 2^32 / 128 mod q: out of Montgomery's form of a product of two, and the scaling of algorithm 10. */
    for (i = 0; i < 256; i++) {
        r[i] = ws_ml_kem_product(r[i], 1441);
    }
}

/* b as it is multiplied. */
WS_INLINE uint16_t positive(int16_t b)
{
    return (uint16_t)(b + 5 * WS_ML_KEM_Q);
}

WS_INLINE uint32_t multiply(int16_t a, uint16_t b)
{
    return (uint32_t)(uint16_t)a * b;
}

void ws_ml_kem_accumulate(int16_t *sum, const int16_t *a, const int16_t *b, uint8_t first, uint8_t count)
{
    for (; count != 0; count--) {
        const uint16_t zeta = ws_table_u16(&zetas[64 + first++]);
        const uint16_t b0 = positive(b[0]);
        const uint16_t b1 = positive(b[1]);
        const uint16_t b2 = positive(b[2]);
        const uint16_t b3 = positive(b[3]);
        const uint16_t high = ws_ml_kem_montgomery(multiply(a[1], b1));
        /* Below 2 q, as a product of a and b is. */
        const uint16_t minus_high = (uint16_t)(2 * WS_ML_KEM_Q - ws_ml_kem_montgomery(multiply(a[3], b3)));

        /* Algorithm 12, for the polynomials modulo X^2 - zeta and X^2 + zeta. */
        sum[0] += (int16_t)(ws_ml_kem_montgomery((uint32_t)high * zeta + multiply(a[0], b0)) - WS_ML_KEM_Q);
        sum[1] += (int16_t)(ws_ml_kem_montgomery(multiply(a[0], b1) + multiply(a[1], b0)) - WS_ML_KEM_Q);
        sum[2] += (int16_t)(ws_ml_kem_montgomery((uint32_t)minus_high * zeta + multiply(a[2], b2)) - WS_ML_KEM_Q);
        sum[3] += (int16_t)(ws_ml_kem_montgomery(multiply(a[2], b3) + multiply(a[3], b2)) - WS_ML_KEM_Q);
        sum += 4;
        a += 4;
        b += 4;
    }
}
