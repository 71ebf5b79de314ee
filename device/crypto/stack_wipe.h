/* Erasing what calls have left on the stack: what a compiler keeps there of a secret, beside variables, no ws_wipe (secret.h) reaches.
 *
 * RAM: none. Stack: the bytes that are asked for, and a frame. */
#ifndef WS_STACK_WIPE_H
#define WS_STACK_WIPE_H

#include "compiler.h"

#include <stdint.h>

/* The most that calls use of the stack, by processor, as a test measures it on every target and variant and compares it
 * (crates/lab/tests/suite/wiped/erased.rs). Frames of code that is not optimised are alike on all. What no test knows, a host
 * among them, has room for the largest. */
#if !defined(__OPTIMIZE__)
#define WS_STACK_OF(avr, msp430, riscv, arm) 208
#elif defined(__AVR__)
#define WS_STACK_OF(avr, msp430, riscv, arm) (avr)
#elif defined(__MSP430__)
#define WS_STACK_OF(avr, msp430, riscv, arm) (msp430)
#elif defined(__riscv)
#define WS_STACK_OF(avr, msp430, riscv, arm) (riscv)
#elif defined(__arm__)
#define WS_STACK_OF(avr, msp430, riscv, arm) (arm)
#else
#define WS_STACK_OF(avr, msp430, riscv, arm) 256
#endif

/* Writes zeros to the stack below the caller's frame. The caller has to know how many bytes its calls used there at most
 * (WS_STACK_OF): fewer leave something, more take stack that nothing else needs. With fixed frames (compiler.h) there is nothing
 * below, and it does nothing.
 *
 * in: bytes: a multiple of 16, not 0.
 * Constant time for a given number. */
#if WS_FIXED_FRAMES
#define ws_stack_wipe(bytes) ((void)(bytes))
#else
void ws_stack_wipe(uint16_t bytes);
#endif

#endif
