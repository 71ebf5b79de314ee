#include "secret.h"

#if defined(__arm__) || defined(__riscv)
/* A word of what may have been written as anything. */
typedef uint32_t __attribute__((may_alias)) aliasing_word;
#endif

void ws_wipe(void *p, size_t n)
{
    volatile uint8_t *bytes = p;

#if defined(__arm__) || defined(__riscv)
    /* Mostly work areas, which are aligned. */
    if (((uintptr_t)p & 3) == 0) {
        volatile aliasing_word *words = p;

        while (n >= 4) {
            n -= 4;
            *words++ = 0;
        }
        bytes = (volatile uint8_t *)words;
    }
#endif
    while (n != 0) {
        n--;
        *bytes++ = 0;
    }
}

int ws_equal(const void *a, const void *b, size_t n)
{
    /* volatile keeps the compiler from seeing that nothing changes once a difference is found, and from leaving
     * the loop there. */
    const volatile uint8_t *left = a;
    const volatile uint8_t *right = b;
    uint8_t difference = 0;

    while (n != 0) {
        n--;
        difference |= (uint8_t)(*left++ ^ *right++);
    }
#if defined(__SDCC)
    /* Bit 7 of x or of -x is set, unless x is 0. sdcc for the 8051 branches on the borrow of a 16-bit decrement. */
    return (uint8_t)~(difference | (uint8_t)(0 - difference)) >> 7;
#else
    /* 0 - 1 borrows into bit 8; 1..255 - 1 does not. */
    return (int)((((uint16_t)difference - 1u) >> 8) & 1u);
#endif
}
