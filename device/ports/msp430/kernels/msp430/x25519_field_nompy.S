/*
 * Arithmetic modulo p = 2^255 - 19 for the MSP430 without its multiplier.
 *
 * Defines x25519_field.h's functions but ws_x25519_freeze. CPUX.
 *
 * Idea. The product is 27 products of 32 bits by shift and add, under three levels of Karatsuba's
 * method (shift_and_add.inc, karatsuba.inc, karatsuba_halves.inc); the reduction is that of
 * x25519_karatsuba.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * ws_x25519_multiply: 11,121 cycles, 198 bytes of stack; ws_x25519_square: 11,125 cycles, 198
 * bytes. Cycle counts include CALL and RET, stack includes the return address.
 */

#include "x25519_karatsuba.inc"
#include "product_128_nompy.inc"
