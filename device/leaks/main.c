/* Functions that give their key away, each in its own way, and one that does not: what a check for constant time must
 * find, and what it must not. The host finds the places by the comments in capitals. */
#include "compiler.h"

/* sdcc has the marks from here. */
#define WS_CT_DEFINE
#include "../ct/ws_ct.h"

#include <stdint.h>

uint8_t ws_bench_key[16] WS_ALIGNED;

/* Nothing here is known to the compiler, and nothing is left out. */
volatile uint32_t leaks_sink;
uint8_t leaks_table[256];

void ws_bench_ready(void);
uint32_t leaks_nothing(const uint8_t *key);
uint32_t leaks_by_branch(const uint8_t *key);
uint32_t leaks_rarely(const uint8_t *key);
uint32_t leaks_by_reading(const uint8_t *key);
uint32_t leaks_by_writing(const uint8_t *key);
uint32_t leaks_by_value(uint8_t first, uint16_t second);
uint32_t leaks_as_marked(const uint8_t *key);
uint32_t leaks_by_multiplying(const uint8_t *key);
uint32_t leaks_by_dividing(const uint8_t *key);

WS_NOINLINE void ws_bench_ready(void)
{
    WS_BARRIER();
}

/* Returns four bytes as a number, of 16 or of 32 bits by a bit of the byte behind them. */
static uint32_t number(const uint8_t *key)
{
    uint32_t value = key[0] | (uint32_t)key[1] << 8 | (uint32_t)key[2] << 16 | (uint32_t)key[3] << 24;

    return value & (((uint32_t)0 - (key[4] & 1)) | 0xffff);
}

WS_NOINLINE uint32_t leaks_nothing(const uint8_t *key)
{
    uint32_t mask = (uint32_t)0 - (key[0] & 1);

    return (number(key) & mask) + leaks_table[3];
}

WS_NOINLINE uint32_t leaks_by_branch(const uint8_t *key)
{
    uint32_t sum = leaks_sink;

    if (key[7] & 1) { /* BRANCH */
        leaks_sink = sum;
        leaks_sink = sum + 1;
    }
    return sum;
}

/* One key in 2^32 takes the other way: not one that a test draws. */
WS_NOINLINE uint32_t leaks_rarely(const uint8_t *key)
{
    uint32_t sum = 0;
    uint8_t i;

    for (i = 0; i < 4; i++) {
        sum |= (uint32_t)(key[i] ^ 0x5a);
    }
    if (sum == 0) { /* RARE */
        leaks_sink = 1;
    }
    return 0;
}

WS_NOINLINE uint32_t leaks_by_reading(const uint8_t *key)
{
    leaks_sink = leaks_table[key[9]]; /* READ */
    return 0;
}

WS_NOINLINE uint32_t leaks_by_writing(const uint8_t *key)
{
    leaks_table[key[9]] = 1; /* WRITE */
    return 0;
}

/* Its second argument is a value. */
WS_NOINLINE uint32_t leaks_by_value(uint8_t first, uint16_t second)
{
    uint32_t sum = leaks_sink + first;

    if (second & 1) { /* VALUE */
        leaks_sink = sum;
        leaks_sink = sum + 1;
    }
    return sum;
}

/* What is secret it says itself. */
WS_NOINLINE uint32_t leaks_as_marked(const uint8_t *key)
{
    uint32_t sum = leaks_sink;

    ws_ct_secret(key, 8);
    if (key[7] & 1) { /* MARKED */
        leaks_sink = sum;
        leaks_sink = sum + 1;
    }
    ws_ct_public(key, 8);
    if (key[7] & 2) {
        leaks_sink = sum;
        leaks_sink = sum + 1;
    }
    return sum;
}

/* What takes its time from operands, some Cortex-M alone have. */
#if defined(__arm__)

/* UMULL ends early on a Cortex-M3. */
WS_NOINLINE uint32_t leaks_by_multiplying(const uint8_t *key)
{
    uint32_t a = number(key);
    uint32_t b = number(key + 5);

    leaks_sink = (uint32_t)((uint64_t)a * b >> 32); /* MULTIPLICATION */
    return 0;
}

/* UDIV takes as long as its quotient. */
WS_NOINLINE uint32_t leaks_by_dividing(const uint8_t *key)
{
    uint32_t a = number(key);
    uint32_t b = number(key + 5) | 1;

    leaks_sink = a / b; /* DIVISION */
    return 0;
}

#endif

int main(void)
{
    for (;;) {
        ws_bench_ready();
        leaks_sink = leaks_nothing(ws_bench_key);
        leaks_sink = leaks_rarely(ws_bench_key);
        leaks_sink = leaks_by_reading(ws_bench_key);
        leaks_sink = leaks_by_writing(ws_bench_key);
        leaks_sink = leaks_by_value(leaks_table[3], (uint16_t)(ws_bench_key[0] | ws_bench_key[1] << 8));
        leaks_sink = leaks_as_marked(ws_bench_key);
#if defined(__arm__)
        leaks_sink = leaks_by_multiplying(ws_bench_key);
        leaks_sink = leaks_by_dividing(ws_bench_key);
#endif
        /* Last: what it leaves in a queue of instructions fetched ahead takes time in what is called next. */
        leaks_sink = leaks_by_branch(ws_bench_key);
    }
}
