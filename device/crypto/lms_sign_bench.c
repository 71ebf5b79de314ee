#include "lms_sign_bench.h"

void ws_lms_read_node(uint8_t tree, uint16_t number, uint8_t node[32])
{
    uint8_t i;

    (void)tree;
    for (i = 0; i < 32; i++) {
        node[i] = ws_table_u8(&ws_bench_stored[32 * number + i]);
    }
}

/* Signing writes none. */
void ws_lms_write_node(uint8_t tree, uint16_t number, const uint8_t node[32])
{
    (void)tree;
    (void)number;
    (void)node;
}

int ws_lms_sign_all(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME], const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                    const uint8_t *message, size_t len, uint8_t head[WS_LMS_HEAD + 32])
{
    ws_lms_signing signing;
    uint8_t piece[32];
    uint8_t *const folded = head + WS_LMS_HEAD;
    const uint32_t leaf = (uint32_t)name[16] << 24 | (uint32_t)name[17] << 16 | (uint16_t)(name[18] << 8) | name[19];
    uint8_t i;
    uint8_t j;

    for (j = 0; j < 32; j++) {
        folded[j] = 0;
    }
    if (ws_lms_sign_begin(&signing, 0, 5, seed, name, leaf, randomizer, message, len, head) != 0) {
        return -1;
    }
    for (i = 0; ws_lms_sign_next(&signing, piece) != 0; i++) {
        for (j = 0; j < 32; j++) {
            folded[j] = (uint8_t)(3 * folded[j] + (piece[j] ^ i));
        }
    }
    return 0;
}
