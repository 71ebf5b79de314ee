#include "keccak_permutation.h"

#include "compiler.h"
#include "little_endian.h"

#if WS_KECCAK_INTERLEAVED

/* Exchanges the bits of x that mask has with those that are n places higher. */
WS_INLINE uint32_t exchange(uint32_t x, uint32_t mask, uint8_t n)
{
    const uint32_t difference = (x ^ (x >> n)) & mask;

    return x ^ difference ^ (difference << n);
}

/* Bits at even places come to the lower half, those at odd places to the upper one. */
static uint32_t separate(uint32_t x)
{
    x = exchange(x, 0x22222222, 1);
    x = exchange(x, 0x0c0c0c0c, 2);
    x = exchange(x, 0x00f000f0, 4);
    return exchange(x, 0x0000ff00, 8);
}

/* The reverse of separate. */
static uint32_t join(uint32_t x)
{
    x = exchange(x, 0x0000ff00, 8);
    x = exchange(x, 0x00f000f0, 4);
    x = exchange(x, 0x0c0c0c0c, 2);
    return exchange(x, 0x22222222, 1);
}

#endif

/* XORs a lane, given in halves, into the state. */
static void xor_lane(uint32_t lane[2], uint32_t low, uint32_t high)
{
#if WS_KECCAK_INTERLEAVED
    low = separate(low);
    high = separate(high);
    lane[0] ^= (low & 0xffff) | (high << 16);
    lane[1] ^= (low >> 16) | (high & 0xffff0000);
#else
    lane[0] ^= low;
    lane[1] ^= high;
#endif
}

/* The lower (half 0) or upper half (half 1) of a lane. */
static uint32_t half_of(const uint32_t lane[2], uint8_t half)
{
#if WS_KECCAK_INTERLEAVED
    return join(half ? (lane[0] >> 16) | (lane[1] & 0xffff0000) : (lane[0] & 0xffff) | (lane[1] << 16));
#else
    return lane[half];
#endif
}

void ws_keccak_xor(uint32_t state[50], uint8_t offset, const uint8_t *in, uint8_t len)
{
    /* A piece of a lane, its halves. */
    uint32_t piece[2];

    state += (uint8_t)(offset >> 2) & ~1;
    offset &= 7;
    while (len != 0) {
        if (offset == 0 && len >= 8) {
            xor_lane(state, ws_load32_le(in), ws_load32_le(in + 4));
            in += 8;
            len -= 8;
        } else {
            piece[0] = 0;
            piece[1] = 0;
            do {
                piece[offset >> 2] |= (uint32_t)*in++ << (uint8_t)(8 * (offset & 3));
                offset++;
                len--;
            } while (offset < 8 && len != 0);
            xor_lane(state, piece[0], piece[1]);
            offset = 0;
        }
        state += 2;
    }
}

void ws_keccak_extract(const uint32_t state[50], uint8_t offset, uint8_t *out, uint8_t len)
{
    uint32_t half;

    state += (uint8_t)(offset >> 2) & ~1;
    offset &= 7;
    while (len != 0) {
        half = half_of(state, offset >> 2);
        if ((offset & 3) == 0 && len >= 4) {
            ws_store32_le(out, half);
            out += 4;
            offset += 4;
            len -= 4;
        } else {
            half >>= (uint8_t)(8 * (offset & 3));
            do {
                *out++ = (uint8_t)half;
                half >>= 8;
                offset++;
                len--;
            } while ((offset & 3) != 0 && len != 0);
        }
        if (offset == 8) {
            offset = 0;
            state += 2;
        }
    }
}
