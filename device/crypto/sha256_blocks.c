#include "sha256.h"

#include "secret.h"
#include "stack_wipe.h"
#include "table.h"

/* FIPS 180-4 section 4.2.2. */
WS_CONSTANT("ws_sha256_k")
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

WS_INLINE uint32_t rotate_right(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32 - n));
}

/* The functions of section 4.1.2. */
WS_INLINE uint32_t choose(uint32_t x, uint32_t y, uint32_t z)
{
    return z ^ (x & (y ^ z));
}

WS_INLINE uint32_t majority(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) | (z & (x | y));
}

WS_INLINE uint32_t sum0(uint32_t x)
{
    return rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22);
}

WS_INLINE uint32_t sum1(uint32_t x)
{
    return rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25);
}

WS_INLINE uint32_t sigma0(uint32_t x)
{
    return rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3);
}

WS_INLINE uint32_t sigma1(uint32_t x)
{
    return rotate_right(x, 17) ^ rotate_right(x, 19) ^ (x >> 10);
}

/* Of compress, which keeps working variables there. */
#define COMPRESS_STACK WS_STACK_OF(192, 208, 224, 176)

WS_NOINLINE static void compress(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    /* The last 16 words of the message schedule, and the working variables a..h. */
    struct {
        uint32_t schedule[16];
        uint32_t v[8];
    } work;
    uint32_t *w = work.schedule;
    uint32_t *v = work.v;
    uint8_t i;

    for (; blocks != 0; blocks--) {
        for (i = 0; i < 8; i++) {
            v[i] = state[i];
        }
        for (i = 0; i < 16; i++) {
            w[i] = ((uint32_t)data[0] << 24) | ((uint32_t)data[1] << 16) | ((uint32_t)data[2] << 8) | data[3];
            data += 4;
        }
        for (i = 0; i < 64; i++) {
            uint32_t t1;
            uint32_t t2;

            if (i >= 16) {
                w[i & 15] += sigma1(w[(i - 2) & 15]) + w[(i - 7) & 15] + sigma0(w[(i - 15) & 15]);
            }
            t1 = v[7] + sum1(v[4]) + choose(v[4], v[5], v[6]) + ws_table_u32(&k[i]) + w[i & 15];
            t2 = sum0(v[0]) + majority(v[0], v[1], v[2]);
            v[7] = v[6];
            v[6] = v[5];
            v[5] = v[4];
            v[4] = v[3] + t1;
            v[3] = v[2];
            v[2] = v[1];
            v[1] = v[0];
            v[0] = t1 + t2;
        }
        for (i = 0; i < 8; i++) {
            state[i] += v[i];
        }
    }
    ws_wipe(&work, sizeof work);
}

void ws_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    compress(state, data, blocks);
#if WS_SPILLS
    ws_stack_wipe(COMPRESS_STACK);
#endif
}
