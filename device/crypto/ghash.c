#include "ghash.h"

#include "secret.h"
#include "stack_wipe.h"

/* The processor's own word, in which a 128-bit value is shifted most cheaply. */
#if defined(__AVR__) || defined(__SDCC)
typedef uint8_t word;
#elif UINTPTR_MAX == 0xffff
typedef uint16_t word;
#else
typedef uint32_t word;
#endif

#define WORD_BYTES (sizeof(word))
#define WORD_BITS (8 * sizeof(word))
#define WORDS (16 / sizeof(word))

#if WS_SPILLS
/* Of absorb, which keeps words of h and y there. */
#define ABSORB_STACK WS_STACK_OF(80, 112, 208, 128)

WS_NOINLINE static void absorb(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks)
#else
void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks)
#endif
{
    /* Algorithm 1 of SP 800-38D section 6.3: z gathers v = h x^i for each bit i set in the other factor. Words are
     * big-endian, most significant first, so that bit 0 of the standard is the top bit of word 0. */
    struct {
        word v[WORDS];
        word z[WORDS];
    } work;

    for (; blocks != 0; blocks--) {
        uint8_t i;
        uint8_t j;

        for (i = 0; i < WORDS; i++) {
            word value = 0;

            for (j = 0; j < WORD_BYTES; j++) {
                value = (word)((value << (WORD_BITS > 8 ? 8 : 0)) | h[WORD_BYTES * i + j]);
            }
            work.v[i] = value;
            work.z[i] = 0;
        }
        for (i = 0; i < 16; i++) {
            uint8_t factor = y[i] ^ *data++;

            for (j = 0; j < 8; j++) {
                word mask = (word)(0 - (word)ws_secret_bit(factor >> 7));
                uint8_t out = ws_secret_bit((uint8_t)(work.v[WORDS - 1] & 1));
                word carry = 0;
                uint8_t n;

                factor = (uint8_t)(factor << 1);
                for (n = 0; n < WORDS; n++) {
                    word value = work.v[n];

                    work.z[n] ^= value & mask;
                    work.v[n] = (word)((value >> 1) | carry);
                    carry = (word)(value << (WORD_BITS - 1));
                }
                /* What falls off at the end is x^128 = 1 + x + x^2 + x^7. */
                work.v[0] ^= (word)((word)(0 - (word)out) & ((word)0xe1 << (WORD_BITS - 8)));
            }
        }
        for (i = 0; i < WORDS; i++) {
            word value = work.z[i];

            for (j = WORD_BYTES; j-- != 0;) {
                y[WORD_BYTES * i + j] = (uint8_t)value;
                value = (word)(value >> (WORD_BITS > 8 ? 8 : 0));
            }
        }
    }
    ws_wipe(&work, sizeof work);
}

#if WS_SPILLS
void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks)
{
    absorb(y, h, data, blocks);
    ws_stack_wipe(ABSORB_STACK);
}
#endif
