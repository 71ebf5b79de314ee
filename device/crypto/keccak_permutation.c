#include "keccak_permutation.h"

#include "compiler.h"
#include "secret.h"
#include "table.h"

/* FIPS 202 section 3.2.5, and as the state has them: two words each. */
WS_CONSTANT("ws_keccak_round_constants")
static const uint32_t round_constants[48] = {
#if WS_KECCAK_INTERLEAVED
    0x00000001, 0x00000000, 0x00000000, 0x00000089, 0x00000000, 0x8000008b, 0x00000000, 0x80008080,
    0x00000001, 0x0000008b, 0x00000001, 0x00008000, 0x00000001, 0x80008088, 0x00000001, 0x80000082,
    0x00000000, 0x0000000b, 0x00000000, 0x0000000a, 0x00000001, 0x00008082, 0x00000000, 0x00008003,
    0x00000001, 0x0000808b, 0x00000001, 0x8000000b, 0x00000001, 0x8000008a, 0x00000001, 0x80000081,
    0x00000000, 0x80000081, 0x00000000, 0x80000008, 0x00000000, 0x00000083, 0x00000000, 0x80008003,
    0x00000001, 0x80008088, 0x00000000, 0x80000088, 0x00000001, 0x00008000, 0x00000000, 0x80008082,
#else
    0x00000001, 0x00000000, 0x00008082, 0x00000000, 0x0000808a, 0x80000000, 0x80008000, 0x80000000,
    0x0000808b, 0x00000000, 0x80000001, 0x00000000, 0x80008081, 0x80000000, 0x00008009, 0x80000000,
    0x0000008a, 0x00000000, 0x00000088, 0x00000000, 0x80008009, 0x00000000, 0x8000000a, 0x00000000,
    0x8000808b, 0x00000000, 0x0000008b, 0x80000000, 0x00008089, 0x80000000, 0x00008003, 0x80000000,
    0x00008002, 0x80000000, 0x00000080, 0x80000000, 0x0000800a, 0x00000000, 0x8000000a, 0x80000000,
    0x80008081, 0x80000000, 0x00008080, 0x80000000, 0x80000001, 0x00000000, 0x80008008, 0x80000000,
#endif
};

/* Sections 3.2.2 and 3.2.3: where pi takes a lane to, beginning with lane 1, and there the next one; and how far rho turns each. */
WS_CONSTANT("ws_keccak_places")
static const uint8_t places[24] = {
    20, 14, 22, 34, 36, 6, 10, 32, 16, 42, 48, 8, 30, 46, 38, 26, 24, 4, 40, 28, 44, 18, 12, 2,
};
WS_CONSTANT("ws_keccak_offsets")
static const uint8_t offsets[24] = {
    1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
};

/* The first and second word of a lane that is turned left by n, which is no multiple of 32. */
#if WS_KECCAK_INTERLEAVED

/* Left; n is 0 to 31. */
WS_INLINE uint32_t rotate(uint32_t x, uint8_t n)
{
    return (x << n) | (x >> ((32 - n) & 31));
}

/* By an odd number, even bits come to odd places and odd ones to even places, the latter one place further. */
WS_INLINE uint32_t turned_first(uint32_t first, uint32_t second, uint8_t n)
{
    return n & 1 ? rotate(second, ((n >> 1) + 1) & 31) : rotate(first, n >> 1);
}

WS_INLINE uint32_t turned_second(uint32_t first, uint32_t second, uint8_t n)
{
    return rotate(n & 1 ? first : second, n >> 1);
}

#else

WS_INLINE uint32_t turned_first(uint32_t first, uint32_t second, uint8_t n)
{
    const uint8_t left = n & 31;

    return n & 32 ? (second << left) | (first >> (32 - left)) : (first << left) | (second >> (32 - left));
}

WS_INLINE uint32_t turned_second(uint32_t first, uint32_t second, uint8_t n)
{
    return turned_first(second, first, n);
}

/* Of a byte that the compiler knows nothing of: of the word it makes a skip with an AVR. */
WS_INLINE uint8_t upper_bit(uint32_t word)
{
    return (uint8_t)(ws_secret_bit((uint8_t)(word >> 24)) >> 7);
}

#endif

void ws_keccak_permute(uint32_t state[50])
{
    /* The parities of the columns, two words each; in chi the beginning of a row. */
    uint32_t c[10];
    uint32_t first;
    uint32_t second;
    uint32_t next;
    uint8_t round;
    uint8_t i;
    uint8_t x;

    for (round = 0; round < 48; round += 2) {
        /* Theta. */
        for (i = 0; i < 10; i++) {
            c[i] = state[i] ^ state[i + 10] ^ state[i + 20] ^ state[i + 30] ^ state[i + 40];
        }
        for (x = 0; x < 10; x += 2) {
            const uint32_t *const left = &c[x < 2 ? 8 : (uint8_t)(x - 2)];
            const uint32_t *const right = &c[x < 8 ? (uint8_t)(x + 2) : 0];

#if WS_KECCAK_INTERLEAVED
            first = left[0] ^ rotate(right[1], 1);
            second = left[1] ^ right[0];
#else
            first = left[0] ^ (right[0] << 1) ^ upper_bit(right[1]);
            second = left[1] ^ (right[1] << 1) ^ upper_bit(right[0]);
#endif
            for (i = x; i < 50; i += 10) {
                state[i] ^= first;
                state[i + 1] ^= second;
            }
        }
        /* Rho and pi. */
        first = state[2];
        second = state[3];
        for (i = 0; i < 24; i++) {
            uint32_t *place = state + ws_table_u8(&places[i]);

            x = ws_table_u8(&offsets[i]);
            next = turned_first(first, second, x);
            second = turned_second(first, second, x);
            first = place[0];
            place[0] = next;
            next = place[1];
            place[1] = second;
            second = next;
        }
        /* Chi. An index that may be negative would cost sdcc for the 8051 branches on it. */
        for (i = 0; i < 50; i += 10) {
            uint32_t *row = state + i;

            for (x = 0; x < 4; x++) {
                c[x] = row[x];
            }
            for (x = 0; x < 6; x++) {
                row[x] ^= ~row[x + 2] & row[x + 4];
            }
            for (; x < 8; x++) {
                row[x] ^= ~row[x + 2] & c[(uint8_t)(x - 6)];
            }
            for (; x < 10; x++) {
                row[x] ^= ~c[(uint8_t)(x - 8)] & c[(uint8_t)(x - 6)];
            }
        }
        /* Iota. */
        state[0] ^= ws_table_u32(&round_constants[round]);
        state[1] ^= ws_table_u32(&round_constants[round + 1]);
    }
    ws_wipe(c, sizeof c);
}
