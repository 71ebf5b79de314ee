/*
 * Arithmetic modulo p = 2^255 - 19 for AVR with MUL, the fast variant: x25519_field.h's functions but
 * ws_x25519_freeze.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 1238
 * bytes, and take 2062 and 1420 for their products of 16 bytes; add, subtract and multiply_121665
 * share 80:
 *
 *                                 cycles   stack   flash
 *     ws_x25519_multiply            5329     121     136
 *     ws_x25519_square              3710     121     108
 *     ws_x25519_multiply_121665      836       4     188
 *     ws_x25519_add                  447       4     112
 *     ws_x25519_subtract             449       4     116
 *     ws_x25519_exchange             451       2      86
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. The product is that of P-256 (karatsuba.inc, p256_field_fast.S). 2^256 is 38 and 2^255 is 19: the upper half,
 * times 38, comes to the lower one. What the sum has from bit 255 on is known before its lower bytes are; times
 * 19 it is the carry that these begin with. So nothing is left to be carried from the end: the highest byte,
 * below 2^7 without that, takes the last carry. Sums and differences have the same by a second pass.
 */

#define FUNCTION(name) ws_x25519_ ## name

#include "karatsuba_fast.inc"
#include "x25519_field.inc"
