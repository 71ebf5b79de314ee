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

#include "p256_field.inc"

/*
 * Sum and the product of two numbers of 8 bytes: the low half is stored, the high half
 * the next sum. Calls: 383 cycles, 2 bytes of stack.
 *
 * in:  X, Y the numbers; SUM; Z where the low half goes, which may be where X points
 * out: X 8 bytes further, B the number at Y; Y, Z as they were
 * ws_p256_rows_loaded: the same with B given in place of Y, 367 cycles.
 * Clobbers r0-r7, r24, r25.
 */
	.section .text.ws_p256_rows, "ax", @progbits
	.type ws_p256_rows, @function
ws_p256_rows:
	LOAD B, Y, 8
ws_p256_rows_loaded:
	.irp k, 0, 1, 2, 3, 4, 5, 6, 7
	ld A, X+
	ROW \k
	std Z+\k, SUM+\k
	.endr
	.irp n, 7, 6, 5, 4, 3, 2, 1
	mov SUM+\n, SUM+\n-1
	.endr
	mov SUM, SUM+8
	ret
	.size ws_p256_rows, . - ws_p256_rows

/*
 * The product of two numbers of 16 bytes. Calls: 1497 cycles, 6 bytes of stack.
 *
 * in:  X, Y the factors; Z 32 bytes for the product, apart from both
 * out: Y, Z as they were
 * Clobbers r0-r27.
 */
	.section .text.ws_p256_product, "ax", @progbits
	.type ws_p256_product, @function
ws_p256_product:
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	clr SUM+\n
	.endr
	rcall ws_p256_rows
	adiw r28, 8
	adiw r30, 16
	rcall ws_p256_rows
	sbiw r28, 8
	sbiw r30, 16
	STORE Z+24, SUM, 8

	sbiw r26, 16
	LOAD_X SUM, 8
	APPLY_X sub, sbc, SUM, 8
	ABSOLUTE SUM, r26, 8
	STORE Z+8, SUM, 8
	APPLY_MEMORY sub, sbc, B, Y, 8
	ABSOLUTE B, A, 8
	eor r26, A		; 0xff: M's sign is minus

	LOAD SUM, Z, 8
	APPLY_MEMORY add, adc, SUM, Z+16, 8
	clr r27
	rol r27
	APPLY_ALL eor, SUM, r26, 8
	push r26
	push r27
	adiw r30, 8
	movw r26, r30
	rcall ws_p256_rows_loaded
	sbiw r30, 8
	pop r27
	pop r26
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+8+\n
	eor r0, r26
	std Z+8+\n, r0
	.endr

	/* r0-r7 = H and L / 2^64, low and high word, in sum. */
	lsr r27
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	ldd \n, Z+16+\n
	ldd B+\n, Z+24+\n
	adc \n, B+\n
	.endr
	rol r27
	mov A, r26
	lsl A
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	eor SUM+\n, r26
	adc \n, SUM+\n
	std Z+16+\n, \n
	.endr
	adc r27, r26
	mov A, r27
	lsl A
	sbc A, A
	add B, r27
	APPLY_ALL adc, B+1, A, 7
	STORE Z+24, B, 8
	ret
	.size ws_p256_product, . - ws_p256_product

/*
 * in:  r25:r24 r, r23:r22 a
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p256_square, "ax", @progbits
	.global ws_p256_square
	.type ws_p256_square, @function
ws_p256_square:
	movw r20, r22
	jmp ws_p256_multiply
	.size ws_p256_square, . - ws_p256_square

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
