/* Handling of secrets: erasing them, comparing them, computing with their bits.
 *
 * Nothing here branches on, indexes by or takes time from the bytes it handles. RAM: none. Stack: one frame. */
#ifndef WS_SECRET_H
#define WS_SECRET_H

#include "compiler.h"

#include <stddef.h>
#include <stdint.h>

/* Writes n zero bytes to p; the compiler cannot leave it out although p is dead afterwards. What the compiler
 * itself keeps of a secret on the stack is for ws_stack_wipe (stack_wipe.h); in registers, and with sdcc in variables at fixed
 * addresses, C cannot reach it.
 *
 * out: p, n bytes, any alignment; p may be anything when n is 0.
 * Constant time for a given n. */
void ws_wipe(void *p, size_t n);

/* Compares n bytes.
 *
 * in: a, b: n bytes each, any alignment, may overlap.
 * Returns 1 if all are equal (also for n = 0), else 0.
 * Constant time for a given n: neither the answer nor the place of a difference shows. */
int ws_equal(const void *a, const void *b, size_t n);

/* Returns bit, which is 0 or 1 and a secret, and hides from the compiler that it can be nothing else. A mask 0 - bit
 * stays arithmetic then; without this, clang for the MSP430 makes a branch of it. sdcc follows no ranges of values and
 * needs no hiding; nor has it a way to hide.
 *
 * Constant time. */
WS_INLINE uint8_t ws_secret_bit(uint8_t bit)
{
#if !defined(__SDCC)
    __asm__("" : "+r"(bit));
#endif
    return bit;
}

#endif
