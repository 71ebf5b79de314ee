#include "ascon_permutation.h"

#include "little_endian.h"

void ws_ascon_xor(uint32_t *state, const uint8_t *in, uint8_t len)
{
    uint8_t shift;

    for (; len >= 4; len -= 4) {
        *state++ ^= ws_load32_le(in);
        in += 4;
    }
    for (shift = 0; len != 0; len--) {
        *state ^= (uint32_t)*in++ << shift;
        shift += 8;
    }
}

void ws_ascon_pad(uint32_t *state, uint8_t len)
{
    state[len >> 2] ^= (uint32_t)1 << (uint8_t)(8 * (len & 3));
}

void ws_ascon_extract(const uint32_t *state, uint8_t *out, uint8_t len)
{
    uint32_t word;

    for (; len >= 4; len -= 4) {
        ws_store32_le(out, *state++);
        out += 4;
    }
    if (len != 0) {
        for (word = *state; len != 0; len--) {
            *out++ = (uint8_t)word;
            word >>= 8;
        }
    }
}
