#include "crc32.h"

uint32_t ws_crc32(uint32_t crc, const uint8_t *in, uint8_t len)
{
    uint8_t i;
    uint8_t bit;

    for (i = 0; i < len; i++) {
        crc ^= in[i];
        for (bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return crc;
}
