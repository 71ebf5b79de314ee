#include "one_time.h"

void ws_one_time_place(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t place)
{
    uint8_t i;

    for (i = 0; i < WS_ONE_TIME_NAME; i++) {
        hash->block[i] = name[i];
    }
    hash->block[20] = (uint8_t)(place >> 8);
    hash->block[21] = (uint8_t)place;
    /* The padding of 55 bytes, FIPS 180-4 section 5.1.1. */
    hash->block[55] = 0x80;
    for (i = 56; i < 62; i++) {
        hash->block[i] = 0;
    }
    hash->block[62] = (55 * 8) >> 8;
    hash->block[63] = (55 * 8) & 0xff;
}

void ws_one_time_step(ws_sha256_ctx *hash, uint8_t step)
{
    uint8_t *value = hash->block + WS_ONE_TIME_VALUE;
    uint8_t i;

    hash->block[22] = step;
    ws_sha256_init(hash);
    ws_sha256_blocks(hash->state, hash->block, 1);
    for (i = 0; i < 8; i++) {
        uint32_t word = hash->state[i];

        *value++ = (uint8_t)(word >> 24);
        *value++ = (uint8_t)(word >> 16);
        *value++ = (uint8_t)(word >> 8);
        *value++ = (uint8_t)word;
    }
}

void ws_one_time_secret(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t place,
                        const uint8_t seed[32])
{
    uint8_t i;

    ws_one_time_place(hash, name, place);
    for (i = 0; i < 32; i++) {
        hash->block[WS_ONE_TIME_VALUE + i] = seed[i];
    }
    ws_one_time_step(hash, WS_ONE_TIME_SECRET);
}

void ws_one_time_begin(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t kind)
{
    uint8_t suffix[2];

    suffix[0] = (uint8_t)(kind >> 8);
    suffix[1] = (uint8_t)kind;
    ws_sha256_init(hash);
    ws_sha256_update(hash, name, WS_ONE_TIME_NAME);
    ws_sha256_update(hash, suffix, 2);
}
