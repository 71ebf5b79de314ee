#include "sha1.h"

#include "secret.h"
#include "stack_wipe.h"

WS_INLINE uint32_t rotate_left(uint32_t x, unsigned n)
{
    return (x << n) | (x >> (32 - n));
}

/* Of compress, which keeps working variables there. */
#define COMPRESS_STACK WS_STACK_OF(144, 128, 208, 160)

WS_NOINLINE static void compress(uint32_t state[5], const uint8_t *data, size_t blocks)
{
    /* The last 16 words of the message schedule. */
    uint32_t w[16];
    uint8_t i;

    for (; blocks != 0; blocks--) {
        uint32_t a = state[0];
        uint32_t b = state[1];
        uint32_t c = state[2];
        uint32_t d = state[3];
        uint32_t e = state[4];

        for (i = 0; i < 16; i++) {
            w[i] = ((uint32_t)data[0] << 24) | ((uint32_t)data[1] << 16) | ((uint32_t)data[2] << 8) | data[3];
            data += 4;
        }
        for (i = 0; i < 80; i++) {
            uint32_t t;

            if (i >= 16) {
                w[i & 15] = rotate_left(w[(i - 3) & 15] ^ w[(i - 8) & 15] ^ w[(i - 14) & 15] ^ w[i & 15], 1);
            }
            /* The functions and constants of FIPS 180-4 sections 4.1.1 and 4.2.1. */
            if (i < 20) {
                t = (d ^ (b & (c ^ d))) + 0x5a827999;
            } else if (i < 40) {
                t = (b ^ c ^ d) + 0x6ed9eba1;
            } else if (i < 60) {
                t = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
            } else {
                t = (b ^ c ^ d) + 0xca62c1d6;
            }
            t += rotate_left(a, 5) + e + w[i & 15];
            e = d;
            d = c;
            c = rotate_left(b, 30);
            b = a;
            a = t;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }
    ws_wipe(w, sizeof w);
}

void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
{
    compress(state, data, blocks);
#if WS_SPILLS
    ws_stack_wipe(COMPRESS_STACK);
#endif
}
