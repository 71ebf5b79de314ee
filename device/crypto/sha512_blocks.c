#include "sha512.h"

#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 4.2.3; of each word the high half first. */
WS_CONSTANT("ws_sha512_k")
static const uint32_t k[160] = {
    0x428a2f98, 0xd728ae22, 0x71374491, 0x23ef65cd, 0xb5c0fbcf, 0xec4d3b2f, 0xe9b5dba5, 0x8189dbbc,
    0x3956c25b, 0xf348b538, 0x59f111f1, 0xb605d019, 0x923f82a4, 0xaf194f9b, 0xab1c5ed5, 0xda6d8118,
    0xd807aa98, 0xa3030242, 0x12835b01, 0x45706fbe, 0x243185be, 0x4ee4b28c, 0x550c7dc3, 0xd5ffb4e2,
    0x72be5d74, 0xf27b896f, 0x80deb1fe, 0x3b1696b1, 0x9bdc06a7, 0x25c71235, 0xc19bf174, 0xcf692694,
    0xe49b69c1, 0x9ef14ad2, 0xefbe4786, 0x384f25e3, 0x0fc19dc6, 0x8b8cd5b5, 0x240ca1cc, 0x77ac9c65,
    0x2de92c6f, 0x592b0275, 0x4a7484aa, 0x6ea6e483, 0x5cb0a9dc, 0xbd41fbd4, 0x76f988da, 0x831153b5,
    0x983e5152, 0xee66dfab, 0xa831c66d, 0x2db43210, 0xb00327c8, 0x98fb213f, 0xbf597fc7, 0xbeef0ee4,
    0xc6e00bf3, 0x3da88fc2, 0xd5a79147, 0x930aa725, 0x06ca6351, 0xe003826f, 0x14292967, 0x0a0e6e70,
    0x27b70a85, 0x46d22ffc, 0x2e1b2138, 0x5c26c926, 0x4d2c6dfc, 0x5ac42aed, 0x53380d13, 0x9d95b3df,
    0x650a7354, 0x8baf63de, 0x766a0abb, 0x3c77b2a8, 0x81c2c92e, 0x47edaee6, 0x92722c85, 0x1482353b,
    0xa2bfe8a1, 0x4cf10364, 0xa81a664b, 0xbc423001, 0xc24b8b70, 0xd0f89791, 0xc76c51a3, 0x0654be30,
    0xd192e819, 0xd6ef5218, 0xd6990624, 0x5565a910, 0xf40e3585, 0x5771202a, 0x106aa070, 0x32bbd1b8,
    0x19a4c116, 0xb8d2d0c8, 0x1e376c08, 0x5141ab53, 0x2748774c, 0xdf8eeb99, 0x34b0bcb5, 0xe19b48a8,
    0x391c0cb3, 0xc5c95a63, 0x4ed8aa4a, 0xe3418acb, 0x5b9cca4f, 0x7763e373, 0x682e6ff3, 0xd6b2b8a3,
    0x748f82ee, 0x5defb2fc, 0x78a5636f, 0x43172f60, 0x84c87814, 0xa1f0ab72, 0x8cc70208, 0x1a6439ec,
    0x90befffa, 0x23631e28, 0xa4506ceb, 0xde82bde9, 0xbef9a3f7, 0xb2c67915, 0xc67178f2, 0xe372532b,
    0xca273ece, 0xea26619c, 0xd186b8c7, 0x21c0c207, 0xeada7dd6, 0xcde0eb1e, 0xf57d4f7f, 0xee6ed178,
    0x06f067aa, 0x72176fba, 0x0a637dc5, 0xa2c898a6, 0x113f9804, 0xbef90dae, 0x1b710b35, 0x131c471b,
    0x28db77f5, 0x23047d84, 0x32caab7b, 0x40c72493, 0x3c9ebe0a, 0x15c9bebc, 0x431d67c4, 0x9c100d4c,
    0x4cc5d4be, 0xcb3e42b6, 0x597f299c, 0xfc657e2a, 0x5fcb6fab, 0x3ad6faec, 0x6c44198c, 0x4a475817,
};

WS_INLINE uint64_t word(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

WS_INLINE uint64_t rotate_right(uint64_t x, unsigned n)
{
    return (x >> n) | (x << (64 - n));
}

/* a + b. Of the carry between words clang for the MSP430 makes a branch. */
WS_INLINE uint64_t sum(uint64_t a, uint64_t b)
{
#if defined(__MSP430__)
    const uint32_t c = (uint32_t)a;
    const uint32_t d = (uint32_t)b;
    const uint32_t low = c + d;
    const uint32_t carry = ((c & d) | ((c | d) & ~low)) >> 31;

    return word((uint32_t)(a >> 32) + (uint32_t)(b >> 32) + carry, low);
#else
    return a + b;
#endif
}

/* The functions of section 4.1.3. */
WS_INLINE uint64_t choose(uint64_t x, uint64_t y, uint64_t z)
{
    return z ^ (x & (y ^ z));
}

WS_INLINE uint64_t majority(uint64_t x, uint64_t y, uint64_t z)
{
    return (x & y) | (z & (x | y));
}

WS_INLINE uint64_t sum0(uint64_t x)
{
    return rotate_right(x, 28) ^ rotate_right(x, 34) ^ rotate_right(x, 39);
}

WS_INLINE uint64_t sum1(uint64_t x)
{
    return rotate_right(x, 14) ^ rotate_right(x, 18) ^ rotate_right(x, 41);
}

WS_INLINE uint64_t sigma0(uint64_t x)
{
    return rotate_right(x, 1) ^ rotate_right(x, 8) ^ (x >> 7);
}

WS_INLINE uint64_t sigma1(uint64_t x)
{
    return rotate_right(x, 19) ^ rotate_right(x, 61) ^ (x >> 6);
}

WS_INLINE uint32_t load32(const uint8_t *in)
{
    return ((uint32_t)in[0] << 24) | ((uint32_t)in[1] << 16) | ((uint32_t)in[2] << 8) | in[3];
}

void ws_sha512_blocks(uint32_t state[16], const uint8_t *data, size_t blocks)
{
    /* The last 16 words of the message schedule, and the working variables a..h. */
    struct {
        uint64_t schedule[16];
        uint64_t v[8];
    } work;
    uint64_t *w = work.schedule;
    uint64_t *v = work.v;
    uint8_t i;

    for (; blocks != 0; blocks--) {
        for (i = 0; i < 8; i++) {
            v[i] = word(state[2 * i], state[2 * i + 1]);
        }
        for (i = 0; i < 16; i++) {
            w[i] = word(load32(data), load32(data + 4));
            data += 8;
        }
        for (i = 0; i < 80; i++) {
            uint64_t t1;
            uint64_t t2;

            if (i >= 16) {
                t1 = sum(sigma1(w[(i - 2) & 15]), w[(i - 7) & 15]);
                w[i & 15] = sum(w[i & 15], sum(t1, sigma0(w[(i - 15) & 15])));
            }
            t1 = sum(sum(v[7], sum1(v[4])), choose(v[4], v[5], v[6]));
            t1 = sum(sum(t1, word(ws_table_u32(&k[2 * i]), ws_table_u32(&k[2 * i + 1]))), w[i & 15]);
            t2 = sum(sum0(v[0]), majority(v[0], v[1], v[2]));
            v[7] = v[6];
            v[6] = v[5];
            v[5] = v[4];
            v[4] = sum(v[3], t1);
            v[3] = v[2];
            v[2] = v[1];
            v[1] = v[0];
            v[0] = sum(t1, t2);
        }
        for (i = 0; i < 8; i++) {
            const uint64_t next = sum(word(state[2 * i], state[2 * i + 1]), v[i]);

            state[2 * i] = (uint32_t)(next >> 32);
            state[2 * i + 1] = (uint32_t)next;
        }
    }
    ws_wipe(&work, sizeof work);
}
