#include "ascon_permutation.h"

#include "compiler.h"

/* The lower half of a word that is turned right by n, which is no 32. The upper one is that of the swapped halves. */
#define TURNED(low, high, n)                                                                                       \
    ((n) < 32 ? ((low) >> ((n) & 31)) | ((high) << ((32 - (n)) & 31))                                              \
              : ((high) >> ((n) & 31)) | ((low) << ((64 - (n)) & 31)))

/* Section 3.4, the linear layer: word ^ (word >>> a) ^ (word >>> b). */
#define DIFFUSE(word, a, b)                                                                                        \
    do {                                                                                                           \
        const uint32_t low = (word)[0];                                                                            \
        const uint32_t high = (word)[1];                                                                           \
                                                                                                                   \
        (word)[0] = low ^ TURNED(low, high, a) ^ TURNED(low, high, b);                                             \
        (word)[1] = high ^ TURNED(high, low, a) ^ TURNED(high, low, b);                                            \
    } while (0)

/* Section 3.3, the S-box is bit by bit: on as many bits of the five words at once as a register has. */
#if defined(__SDCC) || defined(__AVR__)
typedef uint8_t slice;
#else
typedef uint32_t slice;
#endif
#define SLICES (8 / sizeof(slice))

WS_INLINE void substitute(slice *s)
{
    slice x0 = s[0] ^ s[4 * SLICES];
    slice x1 = s[SLICES];
    slice x2 = s[2 * SLICES] ^ x1;
    slice x3 = s[3 * SLICES];
    slice x4 = s[4 * SLICES] ^ x3;
    const slice first = x0;
    const slice second = x1;

    x0 ^= (slice)~x1 & x2;
    x1 ^= (slice)~x2 & x3;
    x2 ^= (slice)~x3 & x4;
    x3 ^= (slice)~x4 & first;
    x4 ^= (slice)~first & second;
    s[0] = x0 ^ x4;
    s[SLICES] = x1 ^ x0;
    s[2 * SLICES] = (slice)~x2;
    s[3 * SLICES] = x3 ^ x2;
    s[4 * SLICES] = x4;
}

void ws_ascon_permute(uint32_t state[10], uint8_t rounds)
{
    /* Section 3.2: the constants 0xf0, 0xe1, .. 0x4b of twelve rounds. */
    uint8_t constant = (uint8_t)(0x3c + 15 * rounds);
    uint8_t i;

    for (; rounds != 0; rounds--) {
        state[4] ^= constant;
        constant -= 15;
        for (i = 0; i < SLICES; i++) {
            substitute((slice *)state + i);
        }
        DIFFUSE(state + 0, 19, 28);
        DIFFUSE(state + 2, 61, 39);
        DIFFUSE(state + 4, 1, 6);
        DIFFUSE(state + 6, 10, 17);
        DIFFUSE(state + 8, 7, 41);
    }
}
