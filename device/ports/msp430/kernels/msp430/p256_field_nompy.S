/*
 * Arithmetic modulo the prime of P-256 for the MSP430 without its multiplier.
 *
 * Defines ws_p256_multiply, ws_p256_square, ws_p256_add and ws_p256_subtract (contract: p256_field.h). CPUX.
 *
 * Idea. The product is 27 products of 32 bits by shift and add, under three levels of Karatsuba's method
 * (shift_and_add.inc, karatsuba.inc, p256_karatsuba.inc); Montgomery's reduction, which needs no multiplication,
 * is that of p256_field.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * ws_p256_multiply: 11,178 cycles, 198 bytes of stack; ws_p256_square: 11,182 cycles, 198 bytes. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p256_karatsuba.inc"
#include "product_128_nompy.inc"
