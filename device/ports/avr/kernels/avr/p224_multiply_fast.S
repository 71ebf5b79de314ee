/*
 * Products modulo p = 2^224 - 2^96 + 1 for AVR with MUL, the fast variant:
 * ws_p224_multiply and ws_p224_square, whose contract is p224_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 1186 bytes,
 * and take 1680 and 1132 for their products of 14 bytes:
 *
 *                         cycles   stack   flash
 *     ws_p224_multiply      4517     109     136
 *     ws_p224_square        3138     109     108
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. The product is that of P-256 (karatsuba.inc, p256_field_fast.S) with words
 * of 7 bytes. The reduction is Montgomery's, by 2^224 at once. p is 1 modulo 2^96, so
 * that u with T - u p = 0 modulo 2^224 follows from the product T. It is T's lower half
 * plus u 2^96, 12 bytes from the 12 before. What this carries beyond 2^224, k, is all
 * that the lower half leaves:
 *     (T - u p) / 2^224 = T's upper half - u + u / 2^128 + k,
 * above -p and below p. Where it is negative, p comes to it through a mask.
 */

#define FUNCTION(name) ws_p224_ ## name
#define WORD 7

#include "karatsuba_fast.inc"

/* Besides SIGN, in its register: what is carried beyond a half, a small number with a
 * sign. */
	.equ CARRY, 30

/*
 * The end of multiply and square: puts the product together, reduces it, drops the
 * frame and returns from them.
 *
 * in:  Z the frame, of karatsuba.inc, plus 28
 *
 * In words of 14 bytes the product is, with X = L1 + H0,
 *     L0, L0 + X -+ M0, X + H1 -+ M1, H1.
 * u takes the place of the lower two.
 */
	.section .text.ws_p224_reduce, "ax", @progbits
	.type ws_p224_reduce, @function
ws_p224_reduce:
	movw r28, r30
	sbiw r28, 28
	movw r26, r30
	adiw r26, 28
	ld SIGN, X+

	/* X; its carry, which counts in two places, in r31. */
	LOAD SUM16, Y+14, 14
	APPLY_MEMORY add, adc, SUM16, Y+28, 14
	clr r31
	rol r31

	/* u from the product's second word, in two parts. The carries of the three sums are
	 * in r1, r25, and in r31 below X's. r24:r23 = u's bytes 12 and 13, whose place still
	 * has those of L0. */
	LOAD WORDS, Y, 7
	APPLY add, adc, WORDS, SUM16, 7
	clr r1
	rol r1
	mov r0, SIGN
	lsl r0
	ADD_SIGNED WORDS, 7
	clr r25
	rol r25
	LOAD 23, Y+12, 2
	APPLY_MEMORY add, adc, 23, Y, 2
	APPLY_MEMORY adc, adc, WORDS, Y+2, 7
	rol r31
	STORE Y+14, WORDS, 7
	LOAD WORDS, Y+7, 7
	STORE Y+12, 23, 2
	lsr r1
	APPLY adc, adc, WORDS, SUM16+7, 7
	rol r1
	lsr r25
	ADD_SIGNED WORDS, 7
	rol r25
	lsr r31
	APPLY_MEMORY adc, adc, WORDS, Y+9, 7
	clr r24
	rol r24
	STORE Y+21, WORDS, 7

	/* The third word, plus u / 2^128 + k, less u. */
	lsr r1
	APPLY_MEMORY adc, adc, SUM16, Y+42, 14
	rol r1
	lsr r25
	ADD_SIGNED SUM16, 14
	adc CARRY, r1
	add CARRY, r31
	clr r1
	add SUM16, r31
	APPLY_ALL adc, SUM16+1, r1, 13
	adc CARRY, r1
	lsr r24
	APPLY_MEMORY adc, adc, SUM16, Y+16, 12
	APPLY_ALL adc, SUM16+12, r1, 2
	adc CARRY, r1
	APPLY_MEMORY sub, sbc, SUM16, Y, 14
	sbc CARRY, r1
	STORE Y+28, SUM16, 14

	/* The fourth, less u. */
	LOAD SUM16, Y+42, 14
	mov r31, CARRY
	lsl r31
	sbc r31, r31
	add SUM16, CARRY
	APPLY_ALL adc, SUM16+1, r31, 13
	adc r31, r1
	APPLY_MEMORY sub, sbc, SUM16, Y+14, 14
	sbc r31, r1

	/* r18 = 0xff where p is to be added, else 0; r19 = what of it is at its byte of 1. */
	mov r18, r31
	mov r19, r31
	andi r19, 1
	ld r30, X+
	ld r31, X
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
	ldd r0, Y+28+\n
	.if \n == 0
	add r0, r19
	.elseif \n < 12
	adc r0, r1
	.else
	adc r0, r18
	.endif
	std Z+\n, r0
	.endr
	APPLY_ALL adc, SUM16, r18, 14
	STORE Z+14, SUM16, 14
	subi r28, lo8(-FRAME+1)
	sbci r29, hi8(-FRAME+1)
	FRAME_LEAVE
	.size ws_p224_reduce, . - ws_p224_reduce
