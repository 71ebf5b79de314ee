/* A mix of what firmware does, for the Cortex-M models: table lookups and rotations as AES does them, 32-bit mixing as
 * SHA-256 does it, 64-bit multiplication and addition, division, byte copies, calls through pointers, switch tables.
 * Freestanding; the vector table is its own. The result is compared with that of the same source on the host. */
#include <stddef.h>
#include <stdint.h>

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static uint32_t table[256];
static uint8_t bytes[256];

static void fill(uint32_t seed)
{
    for (unsigned i = 0; i < 256; i++) {
        seed = seed * 1664525u + 1013904223u;
        table[i] = seed;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static uint32_t rounds(const uint32_t key[4], unsigned count)
{
    uint32_t a = key[0], b = key[1], c = key[2], d = key[3];
    for (unsigned i = 0; i < count; i++) {
        uint32_t t = table[a & 255] ^ rotate(table[b >> 8 & 255], 8) ^ rotate(table[c >> 16 & 255], 16)
                     ^ rotate(table[d >> 24], 24) ^ key[i & 3];
        a = b;
        b = c;
        c = d;
        d = t;
    }
    return a ^ b ^ c ^ d;
}

static void mix(uint32_t state[8], const uint32_t block[16])
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 64; i++) {
        if (i < 16) {
            w[i] = block[i];
        } else {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7]
                   + (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
        }
        uint32_t t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + w[i];
        uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t;
        d = c;
        c = b;
        b = a;
        a = t + u;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static uint32_t wide(uint32_t x)
{
    uint64_t sum = x;
    for (unsigned i = 0; i < 64; i++) {
        sum += (uint64_t)table[i] * table[255 - i];
        sum = sum << 7 | sum >> 57;
        sum ^= (uint64_t)((int64_t)(int32_t)table[i] * (int32_t)x);
    }
    return (uint32_t)sum ^ (uint32_t)(sum >> 32);
}

static uint32_t choose(uint32_t x)
{
    switch (x & 7) {
    case 0: return x / 3;
    case 1: return x * 5;
    case 2: return (uint32_t)((int32_t)x >> 3);
    case 3: return x % 1000;
    case 4: return (uint32_t)(int8_t)x;
    case 5: return (uint32_t)(int16_t)x;
    case 6: return (uint16_t)(x >> 7);
    default: return ~x;
    }
}

static uint32_t (*const steps[2])(uint32_t) = { wide, choose };

/* Keeps the calls through pointers. */
static volatile unsigned which;

uint32_t work(uint32_t count)
{
    uint32_t state[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint32_t sum = 0;
    fill(count);
    for (uint32_t i = 0; i < count; i++) {
        sum += rounds(table + (i & 63), 40);
        mix(state, table + (i & 127));
        sum ^= steps[which](sum + i);
        for (unsigned j = 0; j < 16; j++) {
            sum += steps[which + 1](sum ^ state[j & 7]);
            bytes[(sum + j) & 255] ^= (uint8_t)sum;
            sum += bytes[j];
        }
        for (unsigned j = 0; j < 64; j++) {
            bytes[j] = bytes[j + 64];
        }
    }
    for (unsigned j = 0; j < 8; j++) {
        sum ^= state[j];
    }
    return sum;
}

#ifdef __arm__
__attribute__((section(".bss.result"))) volatile uint32_t result;
extern uint32_t stack_top[];

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *a = to;
    for (const uint8_t *b = from; size > 0; size--) {
        *a++ = *b++;
    }
    return to;
}

static void start(void)
{
    result = work(COUNT);
    __asm__ volatile("bkpt 0");
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = { stack_top, (const void *)start };
#endif
