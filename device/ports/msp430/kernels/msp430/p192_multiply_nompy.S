/*
 * Products modulo p = 2^192 - 2^64 - 1, the prime of P-192, for the MSP430 without its multiplier.
 *
 * Defines ws_p192_multiply and ws_p192_square (contract: p192_field.h). CPUX.
 *
 * Idea. The products of digits are 18 of 32 bits by shift and add, under Karatsuba's method
 * (product_128_nompy.inc); all else is that of p192_multiply.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * ws_p192_multiply: 7,817 cycles, 160 bytes of stack; ws_p192_square: 4 cycles more. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p192_multiply.inc"
#include "product_128_nompy.inc"
