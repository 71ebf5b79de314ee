/*
 * Arithmetic modulo p = 2^160 - 2^31 - 1 for AVR with MUL, the small variant; the
 * contract is secp160r1_field.h's, the idea secp160r1_field_fast.S's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone; multiply and square share another 1330 bytes:
 *
 *                              cycles   stack   flash
 *     ws_secp160r1_multiply      2546      84     706
 *     ws_secp160r1_square        2549      84       4
 *     ws_secp160r1_add            536       4      88
 *     ws_secp160r1_subtract       375       4      82
 *
 * Constant flow: no instruction and no address depends on the elements. The frame
 * on the stack is not wiped; to multiply zero by zero overwrites it.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * A square is a product here.
 */

#include "secp160r1_field.inc"

/*
 * in:  r25:r24 r, r23:r22 a
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_secp160r1_square, "ax", @progbits
	.global ws_secp160r1_square
	.type ws_secp160r1_square, @function
ws_secp160r1_square:
	movw r20, r22
	rjmp ws_secp160r1_multiply
	.size ws_secp160r1_square, . - ws_secp160r1_square

/* r = a op b for op adc or sbc, with X, Z, Y at a, b, r; the last carry. Clobbers r0, r18,
 * r19. */
.macro PASS op
	ldi r19, 20
	clc
1:	ld r0, X+
	ld r18, Z+
	\op r0, r18
	st Y+, r0
	dec r19
	brne 1b
.endm

/* 20 bytes at Y: op, adc or sbc, of 2^31 + 1 where the mask r18 is 0xff, of 0 where it is 0; the
 * carry. Clobbers r0, r19, r20, Y. */
.macro MINUS_PRIME op
	mov r19, r18
	andi r19, 1
	mov r20, r18
	andi r20, 0x80
	ld r0, Y
	clc
	\op r0, r19
	st Y+, r0
	.rept 2
	ld r0, Y
	\op r0, r1
	st Y+, r0
	.endr
	ld r0, Y
	\op r0, r20
	st Y+, r0
	ldi r19, 16
1:	ld r0, Y
	\op r0, r1
	st Y+, r0
	dec r19
	brne 1b
.endm

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r21, r26, r27, r30, r31.
 *
 * Plus 2^31 + 1 carries where the sum is p or more; where nothing was carried, it is taken off
 * again.
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
	PASS adc
	clr r21
	rol r21
	movw r28, r24
	ser r18
	MINUS_PRIME adc
	adc r21, r1		; 1 where one of the two carried, never both
	dec r21
	mov r18, r21
	rjmp ws_secp160r1_add_prime
	.size ws_secp160r1_add, . - ws_secp160r1_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r20, r26, r27, r30, r31.
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
	PASS sbc
	sbc r18, r18
	/* The end of both: p where the mask r18 is 0xff comes to r. */
ws_secp160r1_add_prime:
	movw r28, r24
	MINUS_PRIME sbc
	pop r29
	pop r28
	ret
	.size ws_secp160r1_subtract, . - ws_secp160r1_subtract
