/*
 * Arithmetic modulo the prime of P-256 for the MSP430 with a multiplier of 16 bits.
 *
 * Defines ws_p256_multiply, ws_p256_square, ws_p256_add and ws_p256_subtract (contract: p256_field.h). CPUX.
 *
 * Idea. The product is three products of 128 bits, column by column (mpy16.inc), under Karatsuba's method
 * (karatsuba.inc, p256_karatsuba.inc); Montgomery's reduction, which needs no multiplication, is that of
 * p256_field.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * ws_p256_multiply: 3,438 cycles, 156 bytes of stack; ws_p256_square: 3,442 cycles, 156 bytes. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p256_karatsuba.inc"
#include "product_128_mpy16.inc"
