#include "ml_dsa_challenge.h"

#include "little_endian.h"
#include "ml_dsa_polynomial.h"

void ws_ml_dsa_make_challenge(uint16_t *starts, uint8_t tau, ws_sha3_ctx *sponge, const uint8_t *seed, uint8_t seed_len)
{
    uint8_t signs[8];
    uint8_t m;
    uint8_t n;
    uint8_t j;

    ws_sha3_init(sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(sponge, seed, seed_len);
    ws_sha3_finish(sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(sponge, signs, 8);
    for (m = 0; m < tau; m++) {
        const uint8_t i = (uint8_t)(256 - tau + m);

        do {
            ws_sha3_squeeze(sponge, &j, 1);
        } while (j > i);
        /* The coefficient that is at j, if any, goes to i, where none has been yet. */
        for (n = 0; n < m; n++) {
            if ((uint8_t)(512 - starts[n]) == j) {
                starts[n] -= i - j;
            }
        }
        starts[m] = (uint16_t)((signs[m >> 3] >> (m & 7) & 1 ? 256 : 512) - j);
    }
}

void ws_ml_dsa_double(int16_t doubled[512], const uint8_t *packed, uint8_t bits, int16_t from)
{
    int32_t some[8];
    uint8_t group;
    uint8_t i;

    for (group = 0; group < 32; group++) {
        ws_ml_dsa_unpack(some, packed, 8, bits);
        packed += bits;
        for (i = 0; i < 8; i++) {
            const int16_t f = (int16_t)(from != 0 ? from - some[i] : some[i]);

            doubled[256] = (int16_t)-f;
            *doubled++ = f;
        }
    }
    ws_wipe(some, sizeof some);
}

int32_t ws_ml_dsa_challenge_product(const uint16_t *starts, uint8_t tau, const int16_t doubled[512], uint8_t n)
{
    int32_t sum = 0;
    uint8_t m;

    for (m = 0; m < tau; m++) {
        sum += doubled[(uint16_t)(starts[m] + n) & 511];
    }
    return sum;
}

void ws_ml_dsa_triple(uint8_t tripled[768], const uint8_t *packed, uint8_t bits, uint8_t largest)
{
    int32_t some[8];
    uint8_t group;
    uint8_t i;

    for (group = 0; group < 32; group++) {
        ws_ml_dsa_unpack(some, packed, 8, bits);
        packed += bits;
        for (i = 0; i < 8; i++) {
            /* It is encoded as eta - f. */
            tripled[256] = (uint8_t)some[i];
            tripled[512] = (uint8_t)(largest - some[i]);
            *tripled++ = (uint8_t)(largest - some[i]);
        }
    }
    ws_wipe(some, sizeof some);
}

uint32_t ws_ml_dsa_challenge_products(const uint16_t *starts, uint8_t count, const uint8_t tripled[768], uint8_t n)
{
    const uint16_t *const end = starts + count;
    uint32_t sum = 0;

    for (; starts < end; starts++) {
        sum += ws_load32_le(tripled + *starts + n);
    }
    return sum;
}
