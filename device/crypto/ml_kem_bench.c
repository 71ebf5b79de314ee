#include "ml_kem_bench.h"

static void read(uint16_t place, uint8_t *to, uint8_t count)
{
    uint8_t i;

    for (i = 0; i < count; i++) {
        to[i] = ws_table_u8(&ws_bench_stored[place + i]);
    }
}

static void fold(uint16_t offset, const uint8_t *piece, uint8_t count)
{
    uint8_t i;

    for (i = 0; i < count; i++) {
        const uint8_t row = (uint8_t)(offset >> 5);
        uint8_t *const folded = &ws_bench_output[offset & 31];

        *folded = (uint8_t)((row == 0 ? 0 : 3 * *folded) + (piece[i] ^ row));
        offset++;
    }
}

void ws_ml_kem_512_write_key(uint16_t offset, const uint8_t *piece, uint8_t count)
{
    fold(offset, piece, count);
}

void ws_ml_kem_512_read_key(uint16_t offset, uint8_t *to, uint8_t count)
{
    read(offset, to, count);
}

void ws_ml_kem_512_write_ciphertext(uint16_t offset, const uint8_t *piece, uint8_t count)
{
    fold(offset, piece, count);
}

void ws_ml_kem_512_read_ciphertext(uint16_t offset, uint8_t *to, uint8_t count)
{
    read(WS_ML_KEM_512_PUBLIC_KEY + offset, to, count);
}
