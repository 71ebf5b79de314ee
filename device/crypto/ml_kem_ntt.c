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

/* The product in Montgomery's form. */
WS_INLINE int16_t product(int16_t a, int16_t b)
{
    return ws_ml_kem_montgomery((int32_t)a * b);
}

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
            const int16_t factor = (int16_t)ws_table_u16(&zetas[zeta++]);
            int16_t *const middle = low + len;

            for (; low < middle; low++) {
                const int16_t t = product(factor, low[len]);

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
            const int16_t factor = (int16_t)ws_table_u16(&zetas[zeta--]);
            int16_t *const middle = low + len;

            for (; low < middle; low++) {
                const int16_t t = *low;

                *low = ws_ml_kem_barrett(t + low[len]);
                low[len] = product(factor, low[len] - t);
            }
            low += len;
        }
    }
    /* 2^32 / 128 mod q: out of Montgomery's form of a product of two, and the scaling of algorithm 10. */
    for (i = 0; i < 256; i++) {
        r[i] = product(r[i], 1441);
    }
}

void ws_ml_kem_accumulate(int16_t *sum, const int16_t *a, const int16_t *b, uint8_t first, uint8_t count)
{
    for (; count != 0; count--) {
        const int16_t zeta = (int16_t)ws_table_u16(&zetas[64 + first++]);

        /* Algorithm 12, for the polynomials modulo X^2 - zeta and X^2 + zeta. */
        sum[0] += product(product(a[1], b[1]), zeta) + product(a[0], b[0]);
        sum[1] += ws_ml_kem_montgomery((int32_t)a[0] * b[1] + (int32_t)a[1] * b[0]);
        sum[2] += product(a[2], b[2]) - product(product(a[3], b[3]), zeta);
        sum[3] += ws_ml_kem_montgomery((int32_t)a[2] * b[3] + (int32_t)a[3] * b[2]);
        sum += 4;
        a += 4;
        b += 4;
    }
}
