/*
 * Arithmetic modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1 for AVR with MUL, the fast
 * variant; the contract is p256_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 1588
 * bytes, and take 2062 and 1420 for their products of 16 bytes:
 *
 *                         cycles   stack   flash
 *     ws_p256_multiply      5567     121     136
 *     ws_p256_square        3948     121     108
 *     ws_p256_add            421       5     528
 *     ws_p256_subtract       374       4     438
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. Karatsuba's product twice over, in the subtractive form (Hutter,
 * Schwabe: Multiprecision multiplication on AVR revisited, ePrint 2014/592): with
 * a = a0 + a1 B, b = b0 + b1 B, L = a0 b0, H = a1 b1, M = |a0 - a1| |b0 - b1|,
 *     a b = (L + B H) (1 + B) -+ B M,
 * the sign by a mask that complements M, or what M is added to. B is 2^128 outside,
 * where the three products are calls, and 2^64 inside, where they are eight rows
 * each: a byte of a times eight of b, which stay in registers, as does the sum. A
 * row is two chains of additions, of the products with even and with odd bytes of
 * b: five cycles a product and hardly more, for a carry is taken once a chain.
 *
 * Squares of 16 bytes go by columns, whose sums, without the squares of bytes, are
 * doubled as they leave.
 *
 * The reduction is Montgomery's, by 2^256 at once. p is -1 modulo 2^96, so that m with
 * T + m p = 0 modulo 2^256 follows from the product T, 12 bytes from the 12 before, and
 *     m p = m 2^256 - m 2^224 + m 2^192 + m 2^96 - m
 * is additions alone, in chains as long as the registers allow. Another p is subtracted
 * within these; where the difference is negative, p comes back through a mask.
 */

#define FUNCTION(name) ws_p256_ ## name

#include "karatsuba_fast.inc"
#include "p256_field.inc"

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 *
 * Whether the sum s is p or more shows after one pass: bytes of p that are 0xff or 0
 * are compared through the conjunction and the disjunction of those of s.
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p256_add, "ax", @progbits
	.global ws_p256_add
	.type ws_p256_add, @function
ws_p256_add:
	push r17
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	ldi r17, 0xff
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ld r18, X+
	ldd r0, Z+\n
	.if \n == 0
	add r18, r0
	.else
	adc r18, r0
	.endif
	.if \n < 12
	and r17, r18
	.else
	or r1, r18
	.endif
	std Y+\n, r18
	.endr
	LOAD_X 18, 8
	APPLY_MEMORY adc, adc, 18, Z+24, 8
	clr r26
	rol r26
	clr r27
	ldi r30, 1
	ldi r31, 0xff
	mov r0, r22
	and r0, r23
	and r0, r24
	and r0, r25
	/* Sum minus p: the borrow of bytes 0 to 11, and from there up. */
	com r17
	neg r17
	cpc r1, r27
	cpc r18, r30
	cpc r19, r27
	cpc r20, r27
	cpc r21, r27
	cpc r0, r31
	sbc r26, r27
	com r26
	and r30, r26
	clr r1
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ldd r0, Y+\n
	.if \n == 0
	sub r0, r26
	.elseif \n < 12
	sbc r0, r26
	.else
	sbc r0, r1
	.endif
	std Y+\n, r0
	.endr
	sbc r18, r30
	APPLY_ALL sbc, 19, r1, 3
	APPLY_ALL sbc, 22, r26, 4
	STORE Y+24, 18, 8
	pop r29
	pop r28
	pop r17
	ret
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
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ld r18, X+
	ldd r0, Z+\n
	.if \n == 0
	sub r18, r0
	.else
	sbc r18, r0
	.endif
	std Y+\n, r18
	.endr
	LOAD_X 18, 8
	APPLY_MEMORY sbc, sbc, 18, Z+24, 8
	sbc r26, r26
	ldi r30, 1
	and r30, r26
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ldd r0, Y+\n
	.if \n == 0
	add r0, r26
	.elseif \n < 12
	adc r0, r26
	.else
	adc r0, r1
	.endif
	std Y+\n, r0
	.endr
	adc r18, r30
	APPLY_ALL adc, 19, r1, 3
	APPLY_ALL adc, 22, r26, 4
	STORE Y+24, 18, 8
	pop r29
	pop r28
	ret
	.size ws_p256_subtract, . - ws_p256_subtract
