/*
 * Products modulo p = 2^192 - 2^64 - 1 for AVR with MUL, the fast variant:
 * ws_p192_multiply and ws_p192_square, whose contract is p192_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 982 bytes,
 * and take 1266 and 876 for their products of 12 bytes:
 *
 *                         cycles   stack   flash
 *     ws_p192_multiply      3512      97     136
 *     ws_p192_square        2463      97     108
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. The product is that of P-256 (karatsuba.inc, p256_field_fast.S) with words
 * of 6 bytes. Its upper half stays in registers. As 2^192 is 2^64 + 1, with t3, t4, t5
 * its numbers of 8 bytes,
 *     t3 + t5, t3 + t4 + t5, t4 + t5
 * are added to the lower half. What is carried beyond 192 bits goes the same way, and is
 * taken greater by one, which subtracts p. Where nothing is carried then, the number was
 * below p, and 2^64 + 1 is taken back through a mask.
 */

#define FUNCTION(name) ws_p192_ ## name
#define WORD 6

#include "karatsuba_fast.inc"

/* The upper half; T5 is the highest. */
	.equ T3, 2
	.equ T4, 10
	.equ T5, 18
	.equ CARRY, 30

/*
 * The end of multiply and square: puts the product together, reduces it, drops the
 * frame and returns from them.
 *
 * in:  Z the frame, of karatsuba.inc, plus 24
 *
 * In words of 12 bytes the product is, with X = L1 + H0,
 *     L0, L0 + X -+ M0, X + H1 -+ M1, H1.
 */
	.section .text.ws_p192_reduce, "ax", @progbits
	.type ws_p192_reduce, @function
ws_p192_reduce:
	movw r28, r30
	sbiw r28, 24
	movw r26, r30
	adiw r26, 24
	ld SIGN, X+

	/* X; its carry, which counts in two places, in r31. */
	LOAD SUM16, Y+12, 12
	APPLY_MEMORY add, adc, SUM16, Y+24, 12
	clr r31
	rol r31

	/* The second word; the carries of its two sums in r1, and in r31 below X's. */
	LOAD WORDS, Y, 12
	APPLY add, adc, WORDS, SUM16, 12
	clr r1
	rol r1
	mov r0, SIGN
	lsl r0
	ADD_SIGNED WORDS, 12
	rol r31
	STORE Y+12, WORDS, 12

	/* The upper half. */
	lsr r1
	APPLY_MEMORY adc, adc, SUM16, Y+36, 12
	rol r1
	lsr r31
	ADD_SIGNED SUM16, 12
	adc CARRY, r1
	add CARRY, r31
	clr r1
	add SUM16, r31
	APPLY_ALL adc, SUM16+1, r1, 11
	adc CARRY, r1
	LOAD WORDS, Y+36, 12
	mov r31, CARRY
	lsl r31
	sbc r31, r31
	add WORDS, CARRY
	APPLY_ALL adc, WORDS+1, r31, 11

	/* The sum that the lower half gets, and then its addition. */
	APPLY add, adc, T3, T5, 8
	clr r31
	rol r31
	APPLY add, adc, T5, T4, 8
	clr CARRY
	rol CARRY
	mov r0, r31
	lsr r0
	APPLY adc, adc, T4, T3, 8
	adc T5, r31
	APPLY_ALL adc, T5+1, r1, 7
	adc CARRY, r1
	APPLY_MEMORY add, adc, T3, Y, 24
	adc CARRY, r1

	/* r30 = 1 where 2^64 + 1 is to be taken back, else 0. */
	inc CARRY
	add T3, CARRY
	APPLY_ALL adc, T3+1, r1, 7
	adc T4, CARRY
	APPLY_ALL adc, T4+1, r1, 15
	sbc r30, r30
	inc r30
	sub T3, r30
	APPLY_ALL sbc, T3+1, r1, 7
	sbc T4, r30
	APPLY_ALL sbc, T4+1, r1, 15
	ld r30, X+
	ld r31, X
	STORE Z, T3, 24
	subi r28, lo8(-FRAME+1)
	sbci r29, hi8(-FRAME+1)
	FRAME_LEAVE
	.size ws_p192_reduce, . - ws_p192_reduce
