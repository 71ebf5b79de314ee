#include "ml_dsa_sample.h"

#include "ml_dsa_polynomial.h"

/* Begins SHAKE of a seed and a number of two bytes. */
static void begin(ws_sha3_ctx *sponge, uint8_t rate, const uint8_t *seed, uint8_t seed_len, uint8_t low, uint8_t high)
{
    uint8_t number[2];

    number[0] = low;
    number[1] = high;
    ws_sha3_init(sponge, rate);
    ws_sha3_absorb(sponge, seed, seed_len);
    ws_sha3_absorb(sponge, number, 2);
    ws_sha3_finish(sponge, WS_SHAKE_SUFFIX);
}

void ws_ml_dsa_accumulate_sampled(ws_sha3_ctx *sponge, int32_t sum[256], const int32_t polynomial[256], const uint8_t rho[32], uint8_t row,
                                  uint8_t column)
{
    int32_t some[8];
    uint8_t bytes[24];
    uint16_t place = 0;

    begin(sponge, WS_SHAKE128_RATE, rho, 32, column, row);
    while (place < 256) {
        uint16_t count;

        ws_sha3_squeeze(sponge, bytes, 24);
        count = ws_ml_dsa_sample(some, bytes);
        if (count > 256 - place) {
            count = 256 - place;
        }
        ws_ml_dsa_accumulate(sum + place, some, polynomial + place, (uint8_t)count);
        place += count;
    }
}

void ws_ml_dsa_make_mask(ws_sha3_ctx *sponge, uint8_t *encoded, uint16_t bytes, const uint8_t seed[64], uint16_t number)
{
    begin(sponge, WS_SHAKE256_RATE, seed, 64, (uint8_t)number, (uint8_t)(number >> 8));
    ws_sha3_squeeze(sponge, encoded, bytes);
}

void ws_ml_dsa_make_secret(ws_sha3_ctx *sponge, uint8_t *encoded, int32_t some[256], const uint8_t seed[64], uint8_t number, uint8_t eta)
{
    const uint8_t bits = eta == 2 ? 3 : 4;
    uint8_t byte;
    uint8_t upper;
    uint16_t count = 0;

    begin(sponge, WS_SHAKE256_RATE, seed, 64, number, 0);
    while (count < 256) {
        ws_sha3_squeeze(sponge, &byte, 1);
        for (upper = 0; upper < 2 && count < 256; upper++) {
            const uint8_t half = byte & 15;

            /* CoeffFromHalfByte, algorithm 15: 2 - half modulo 5, which is encoded as that, and none of 15, over which the next one is written. With
             * eta = 4, 4 - half, and none of 9 and more. 13 is 64/5, rounded. */
            some[count] = eta == 2 ? half - 5 * ((half * 13) >> 6) : half;
            count += (uint8_t)(((uint8_t)(half + (eta == 2 ? 1 : 7)) >> 4) ^ 1);
            byte >>= 4;
        }
    }
    for (count = 0; count < 256; count += 128) {
        ws_ml_dsa_pack(encoded, some + count, 128, bits);
        encoded += 16 * bits;
    }
}

void ws_ml_dsa_represent(uint8_t mu[64], const uint8_t tr[64], const uint8_t *context, uint8_t context_len, const uint8_t *message,
                         size_t len)
{
    ws_sha3_ctx sponge;
    uint8_t prefix[2];

    /* The message itself is signed, not a digest of it. */
    prefix[0] = 0;
    prefix[1] = context_len;
    ws_sha3_init(&sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&sponge, tr, 64);
    ws_sha3_absorb(&sponge, prefix, 2);
    ws_sha3_absorb(&sponge, context, context_len);
    ws_sha3_absorb(&sponge, message, len);
    ws_sha3_finish(&sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&sponge, mu, 64);
}
