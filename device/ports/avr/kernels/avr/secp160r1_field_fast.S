/*
 * Arithmetic modulo p = 2^160 - 2^31 - 1 for AVR with MUL, the fast variant; the
 * contract is secp160r1_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 444 bytes,
 * and multiply takes 886 for its products of 10 bytes:
 *
 *                              cycles   stack   flash
 *     ws_secp160r1_multiply      2546      84     706
 *     ws_secp160r1_square        1734      82    2198
 *     ws_secp160r1_add            262       4     334
 *     ws_secp160r1_subtract       231       4     272
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. Karatsuba's product in the subtractive form (Hutter, Schwabe:
 * Multiprecision multiplication on AVR revisited, ePrint 2014/592): with B = 2^80,
 * a = a0 + a1 B, b = b0 + b1 B, L = a0 b0, H = a1 b1, M = |a1 - a0| |b1 - b0|,
 *     a b = L + B (L + H -+ M) + B^2 H.
 * The three products are calls; both factors, 20 bytes, stay in registers, so that
 * the differences, too, are formed there. A square is taken whole.
 *
 * As 2^160 is 2^31 + 1, the high half of a product is added to the low one twice, and
 * so is what that carries, a word of four bytes and a half. This word is taken greater
 * by one: that adds 2^31 + 1, or subtracts p, and where nothing is carried then, the
 * number was below p, and it is taken back through a mask.
 */

#include "secp160r1_field.inc"

/*
 * in:  r25:r24 r, r23:r22 a
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_secp160r1_square, "ax", @progbits
	.global ws_secp160r1_square
	.type ws_secp160r1_square, @function

	.equ BYTES, 20
	.equ FACTOR, 2
	.equ TOTAL, 22
	.equ DOUBLED, 27
	.equ SQUARED, 28
	.set ZERO, 29

ws_secp160r1_square:
	ENTER
	movw r26, r22
	LOAD_X FACTOR, 20
	clr ZERO
	clr DOUBLED
	clr SQUARED
	clr TOTAL
	clr TOTAL+1
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
	SQUARE_TWO_BYTES \i
	.endr
	movw r28, r30
	LOAD 2, Y+20, 20
	ldd r30, Y+61
	ldd r31, Y+60
	rjmp ws_secp160r1_reduce
	.size ws_secp160r1_square, . - ws_secp160r1_square

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 *
 * Whether the sum is p or more shows after one pass: it is if it carries, or if bytes 4
 * and up are all 0xff and the low word is 2^31 - 1 or more.
 */
	.section .text.ws_secp160r1_add, "ax", @progbits
	.global ws_secp160r1_add
	.type ws_secp160r1_add, @function
ws_secp160r1_add:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	LOAD_X 18, 4
	APPLY_MEMORY add, adc, 18, Z, 4
	ld r22, X+
	ldd r0, Z+4
	adc r22, r0
	std Y+4, r22
	.irp n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ld r23, X+
	ldd r0, Z+\n
	adc r23, r0
	std Y+\n, r23
	and r22, r23
	.endr
	mov r1, r22
	LOAD_X 22, 4
	APPLY_MEMORY adc, adc, 22, Z+16, 4
	and r1, r22
	and r1, r23
	and r1, r24
	and r1, r25
	clr r31
	rol r31
	/* The low word plus 2^31 + 1 carries where it reaches 2^31 - 1. */
	ldi r26, 0x80
	clr r27
	mov r30, r18
	sec
	adc r30, r27
	mov r30, r19
	adc r30, r27
	mov r30, r20
	adc r30, r27
	mov r30, r21
	adc r30, r26
	adc r1, r27
	adc r31, r27
	neg r31
	/* Minus p is plus 2^31 + 1. */
	and r26, r31
	andi r31, 1
	clr r1
	add r18, r31
	adc r19, r1
	adc r20, r1
	adc r21, r26
	STORE Y, 18, 4
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldd r0, Y+\n
	adc r0, r1
	std Y+\n, r0
	.endr
	APPLY_ALL adc, 22, r1, 4
	STORE Y+16, 22, 4
	pop r29
	pop r28
	ret
	.size ws_secp160r1_add, . - ws_secp160r1_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_secp160r1_subtract, "ax", @progbits
	.global ws_secp160r1_subtract
	.type ws_secp160r1_subtract, @function
ws_secp160r1_subtract:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	LOAD_X 18, 4
	APPLY_MEMORY sub, sbc, 18, Z, 4
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ld r22, X+
	ldd r0, Z+\n
	sbc r22, r0
	std Y+\n, r22
	.endr
	LOAD_X 22, 4
	APPLY_MEMORY sbc, sbc, 22, Z+16, 4
	sbc r26, r26
	mov r27, r26
	andi r26, 1
	andi r27, 0x80
	/* Plus p is minus 2^31 + 1. */
	sub r18, r26
	sbc r19, r1
	sbc r20, r1
	sbc r21, r27
	STORE Y, 18, 4
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldd r0, Y+\n
	sbc r0, r1
	std Y+\n, r0
	.endr
	APPLY_ALL sbc, 22, r1, 4
	STORE Y+16, 22, 4
	pop r29
	pop r28
	ret
	.size ws_secp160r1_subtract, . - ws_secp160r1_subtract
