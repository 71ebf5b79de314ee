#include "keccak_permutation.h"

#include "compiler.h"
#include "little_endian.h"

#if WS_KECCAK_INTERLEAVED

/* Exchanges the bits of a at the places of mask, n places higher, with those of b at the places of mask. */
WS_INLINE void exchange(uint32_t *a, uint32_t *b, uint32_t mask, uint8_t n)
{
    const uint32_t difference = ((*a >> n) ^ *b) & mask;

    *b ^= difference;
    *a ^= difference << n;
}

/* The halves of a lane become its bits at even and those at odd places. The number of a bit in the lane has six bits, of which the lowest
 * becomes the uppermost, which says which word it is in: each step exchanges that with the next one. */
WS_INLINE void separate(uint32_t *first, uint32_t *second)
{
    const uint32_t low = *first;

    *first = (low & 0xffff) | (*second << 16);
    *second = (low >> 16) | (*second & 0xffff0000);
    exchange(first, second, 0x00ff00ff, 8);
    exchange(first, second, 0x0f0f0f0f, 4);
    exchange(first, second, 0x33333333, 2);
    exchange(first, second, 0x55555555, 1);
}

/* The reverse of separate. */
WS_INLINE void join(uint32_t *first, uint32_t *second)
{
    uint32_t even;

    exchange(first, second, 0x55555555, 1);
    exchange(first, second, 0x33333333, 2);
    exchange(first, second, 0x0f0f0f0f, 4);
    exchange(first, second, 0x00ff00ff, 8);
    even = *first;
    *first = (even & 0xffff) | (*second << 16);
    *second = (even >> 16) | (*second & 0xffff0000);
}

#endif

/* XORs a lane, given in halves, into the state. */
static void xor_lane(uint32_t lane[2], uint32_t low, uint32_t high)
{
#if WS_KECCAK_INTERLEAVED
    separate(&low, &high);
#endif
    lane[0] ^= low;
    lane[1] ^= high;
}

/* The lower (half 0) or upper half (half 1) of a lane. */
static uint32_t half_of(const uint32_t lane[2], uint8_t half)
{
#if WS_KECCAK_INTERLEAVED
    uint32_t first = lane[0];
    uint32_t second = lane[1];

    join(&first, &second);
    return half ? second : first;
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
#if WS_KECCAK_INTERLEAVED
        if (offset == 0 && len >= 8) {
            uint32_t other = state[1];

            half = state[0];
            join(&half, &other);
            ws_store32_le(out, half);
            ws_store32_le(out + 4, other);
            state += 2;
            out += 8;
            len -= 8;
            continue;
        }
#endif
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
