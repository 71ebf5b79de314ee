#include "ml_dsa_polynomial.h"

void ws_ml_dsa_ntt(int32_t r[256])
{
    uint8_t zeta = 1;
    uint8_t len;

    for (len = 128; len != 0; len >>= 1) {
        int32_t *low = r;

        while (low < r + 256) {
            const uint32_t factor = ws_table_u32(&ws_ml_dsa_zetas[zeta++]);
            int32_t *const middle = low + len;

            for (; low < middle; low++) {
                const int32_t t = ws_ml_dsa_product(low[len], factor);

                low[len] = *low - t;
                *low += t;
            }
            low += len;
        }
    }
}

static void reduce(int32_t r[256])
{
    uint16_t i;

    for (i = 0; i < 256; i++) {
        r[i] = ws_ml_dsa_reduce(r[i]);
    }
}

void ws_ml_dsa_inverse_ntt(int32_t r[256])
{
    uint8_t zeta = 255;
    uint16_t len;
    uint16_t i;

    for (len = 1; len <= 128; len <<= 1) {
        int32_t *low = r;

        /* Sums double in each layer. */
        if (len == 1 || len == 16) {
            reduce(r);
        }
        while (low < r + 256) {
            /* That of algorithm 42 is negative, and so is the difference. */
            const uint32_t factor = ws_table_u32(&ws_ml_dsa_zetas[zeta--]);
            int32_t *const middle = low + len;

            for (; low < middle; low++) {
                const int32_t t = *low;

                *low = t + low[len];
                low[len] = ws_ml_dsa_product(low[len] - t, factor);
            }
            low += len;
        }
    }
    /* 2^64 / 256 mod q: out of Montgomery's form of a product of two, and the scaling of algorithm 42. */
    for (i = 0; i < 256; i++) {
        r[i] = ws_ml_dsa_product(r[i], 41978);
    }
}

void ws_ml_dsa_accumulate(int32_t *sum, const int32_t *a, const int32_t *b, uint8_t count)
{
    for (; count != 0; count--) {
        *sum++ += ws_ml_dsa_product(*b++, (uint32_t)*a++);
    }
}
