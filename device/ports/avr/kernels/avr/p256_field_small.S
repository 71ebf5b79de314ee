/*
 * Arithmetic modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1 for AVR with MUL, the small
 * variant; the contract is p256_field.h's, the idea p256_field_fast.S's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 2500 bytes
 * and what frames.inc says, and all of them another 70:
 *
 *                         cycles   stack   flash
 *     ws_p256_multiply      6204     125      84
 *     ws_p256_square        6207     125       4
 *     ws_p256_add            873       6     106
 *     ws_p256_subtract       607       6      36
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The products of 8 bytes are one routine here, and a square is a product.
 */

/* r25:r24 += p where the mask r18 is 0xff: what p256_field.inc has at its end. */
#define ADD_PRIME ws_p256_add_prime

#define FUNCTION(name) ws_p256_ ## name

#include "karatsuba_small.inc"
#include "p256_field.inc"

/* Bytes at Y, the next ones, and the carry: op with the same register. */
.macro EACH op, register, count
	ldi r19, \count
1:	ld r0, Y
	\op r0, \register
	st Y+, r0
	dec r19
	brne 1b
.endm

/* 32 bytes at Y: adc or sbc, with the carry, of p where the mask r18 is 0xff, of 0 where it is
 * 0. Clobbers r0, r19, r20, Y. */
.macro PRIME op
	mov r20, r18
	andi r20, 1
	EACH \op, r18, 12
	EACH \op, r1, 12
	EACH \op, r20, 1
	EACH \op, r1, 3
	EACH \op, r18, 4
.endm

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p256_add, "ax", @progbits
	.global ws_p256_add
	.type ws_p256_add, @function
ws_p256_add:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	ldi r19, 32
	clc
1:	ld r0, X+
	ld r18, Z+
	adc r0, r18
	st Y+, r0
	dec r19
	brne 1b
	clr r21
	rol r21
	movw r28, r24
	ser r18
	clc
	PRIME sbc
	sbc r21, r1		; 0xff where the sum was below p
	mov r18, r21
	rjmp ws_p256_end
	.size ws_p256_add, . - ws_p256_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p256_subtract, "ax", @progbits
	.global ws_p256_subtract
	.type ws_p256_subtract, @function
ws_p256_subtract:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	ldi r19, 32
	clc
1:	ld r0, X+
	ld r18, Z+
	sbc r0, r18
	st Y+, r0
	dec r19
	brne 1b
	sbc r18, r18
	/* The end of both. */
ws_p256_end:
	call ws_p256_add_prime
	pop r29
	pop r28
	ret
	.size ws_p256_subtract, . - ws_p256_subtract

/*
 * in:  r25:r24 a number, to which comes p where the mask r18 is 0xff, 0 where it is 0
 * Clobbers r0, r19, r20, Y.
 */
	.section .text.ws_p256_add_prime, "ax", @progbits
	.type ws_p256_add_prime, @function
ws_p256_add_prime:
	movw r28, r24
	clc
	PRIME adc
	ret
	.size ws_p256_add_prime, . - ws_p256_add_prime
