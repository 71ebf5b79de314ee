/*
 * Arithmetic modulo p = 2^255 - 19 for AVR with MUL, the small variant: x25519_field.h's functions but
 * ws_x25519_freeze; the idea is x25519_field_fast.S's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 2262 bytes
 * and what frames.inc says, and the three below them 80:
 *
 *                                 cycles   stack   flash
 *     ws_x25519_multiply            5680     125      84
 *     ws_x25519_square              5683     125       4
 *     ws_x25519_multiply_121665      834       4     186
 *     ws_x25519_add                  445       4     110
 *     ws_x25519_subtract             447       4     114
 *     ws_x25519_exchange             450       2      86
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 */

#define FUNCTION(name) ws_x25519_ ## name

#include "karatsuba_small.inc"
#include "x25519_field.inc"
