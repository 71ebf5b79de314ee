#include "chacha20_rounds.h"

#include "stack_wipe.h"

/* Of rounds, which keeps words of the state there. */
#define ROUNDS_STACK WS_STACK_OF(32, 32, 80, 112)

static uint32_t rotated(uint32_t word, uint8_t left)
{
    return (word << left) | (word >> (uint8_t)(32 - left));
}

/* Section 2.1. */
static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b;
    *d = rotated(*d ^ *a, 16);
    *c += *d;
    *b = rotated(*b ^ *c, 12);
    *a += *b;
    *d = rotated(*d ^ *a, 8);
    *c += *d;
    *b = rotated(*b ^ *c, 7);
}

WS_NOINLINE static void rounds(uint32_t state[16])
{
    uint8_t round;
    uint8_t i;

    /* Columns, and then diagonals. */
    for (round = 0; round < 10; round++) {
        for (i = 0; i < 4; i++) {
            quarter_round(&state[i], &state[4 + i], &state[8 + i], &state[12 + i]);
        }
        for (i = 0; i < 4; i++) {
            quarter_round(&state[i], &state[4 + ((i + 1) & 3)], &state[8 + ((i + 2) & 3)], &state[12 + ((i + 3) & 3)]);
        }
    }
}

void ws_chacha20_rounds(uint32_t state[16])
{
    rounds(state);
    ws_stack_wipe(ROUNDS_STACK);
}
