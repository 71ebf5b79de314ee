/*
 * Arithmetic modulo p = 2^255 - 19 for the MSP430 with a multiplier of 16 bits.
 *
 * Defines x25519_field.h's functions but ws_x25519_freeze. CPUX.
 *
 * Idea. The product is three products of 128 bits, column by column (mpy16.inc), under Karatsuba's method
 * (karatsuba_256.inc); the reduction is that of x25519_karatsuba.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * ws_x25519_multiply: 3,381 cycles, 156 bytes of stack; ws_x25519_square: 3,385 cycles, 156 bytes. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "x25519_karatsuba.inc"
#include "product_128_mpy16.inc"
