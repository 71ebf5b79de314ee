/*
 * Arithmetic modulo an odd number for AVR with MUL, the fast variant: ws_modular_multiply,
 * ws_modular_add and ws_modular_reduce, whose contracts are modular.h's.
 *
 * Cycles from the call instruction to the return inclusive, for 32, 24 and 20 bytes, stack
 * with the return address, flash of the function alone; the last step of all three is
 * another 44 bytes. As the small variant, ws_modular_multiply takes 13 cycles more and 260
 * bytes and what frames.inc says:
 *
 *                              32     24     20   stack   flash
 *     ws_modular_multiply   25275  14707  10515      57     348
 *     ws_modular_add          974    742    626       6      52
 *     ws_modular_reduce       649    497    421       6      28
 *
 * Constant flow: the instructions and addresses depend on the size of the modulus alone,
 * which is a multiple of 4. The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea. Montgomery's product, byte by byte of a: to the sum t come the byte times b
 * and the multiple of the modulus that clears the lowest byte, both in one pass; a
 * column is three bytes, below 2^17.
 */

#include "frames.inc"

/* struct ws_modulus */
	.equ MODULUS_BYTES, 0
	.equ MODULUS_LIMBS, 3
	.equ MODULUS_NEGATED_INVERSE, 7

/* The frame: a byte that is cleared, and t. */
	.equ FRAME, 33

	.equ A_POINTER, 2
	.equ B_POINTER, 4
	.equ M_POINTER, 6
	.equ T_POINTER, 8
	.equ INVERSE, 10		/* -1 / m modulo 256 */
	.equ TOP, 11			/* what t has above its bytes */
	.equ ZERO, 12
	.equ CHUNKS, 13			/* of 4 bytes, in a number */
	.equ FACTOR, 14			/* a byte of a */
	.equ CLEARING, 15		/* times m, clears the lowest byte */
	.equ BYTE, 16
	.equ BYTES, 17
	.equ SUM, 18			/* six bytes: columns k to k + 2, for k from 0 to 3 */
	.equ LEFT, 24
	.equ LEFT_OF_A, 25

/*
 * The last step of all three: r = number, less the modulus if that is contained, for a
 * number below twice the modulus. r1 is 0.
 *
 * in:  X r; Y number, of r20 bytes, which may be r; r18 what it has above these; Z the
 *      modulus
 * Clobbers r0, r18-r21, X, Y, Z.
 */
	.section .text.ws_modular_once, "ax", @progbits
	.type ws_modular_once, @function
ws_modular_once:
	mov r21, r20
	clc
1:	ld r0, Y+
	ld r19, Z+
	sbc r0, r19
	dec r21
	brne 1b
	sbc r18, r1		; 0xff where it is not contained, else 0
	com r18
	sub r28, r20
	sbc r29, r1
	sub r30, r20
	sbc r31, r1
	clc
2:	ld r0, Y+
	ld r19, Z+
	and r19, r18
	sbc r0, r19
	st X+, r0
	dec r20
	brne 2b
	ret
	.size ws_modular_once, . - ws_modular_once

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 m
 * Clobbers r0, r18-r21, r26, r27, r30, r31.
 */
	.section .text.ws_modular_reduce, "ax", @progbits
	.global ws_modular_reduce
	.type ws_modular_reduce, @function
ws_modular_reduce:
	push r28
	push r29
	movw r26, r24
	movw r28, r22
	movw r30, r20
	ldd r20, Z+MODULUS_BYTES
	ldd r18, Z+MODULUS_LIMBS
	ldd r19, Z+MODULUS_LIMBS+1
	movw r30, r18
	clr r18
	rcall ws_modular_once
	pop r29
	pop r28
	ret
	.size ws_modular_reduce, . - ws_modular_reduce

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b, r19:r18 m
 * Clobbers r0, r18-r23, r26, r27, r30, r31.
 */
	.section .text.ws_modular_add, "ax", @progbits
	.global ws_modular_add
	.type ws_modular_add, @function
ws_modular_add:
	push r28
	push r29
	movw r26, r22
	movw r28, r20
	movw r30, r18
	ldd r20, Z+MODULUS_BYTES
	ldd r22, Z+MODULUS_LIMBS
	ldd r23, Z+MODULUS_LIMBS+1
	movw r30, r24
	mov r21, r20
	clc
1:	ld r0, X+
	ld r19, Y+
	adc r0, r19
	st Z+, r0
	dec r21
	brne 1b
	clr r18
	rol r18
	movw r26, r24
	movw r28, r24
	movw r30, r22
	rcall ws_modular_once
	pop r29
	pop r28
	ret
	.size ws_modular_add, . - ws_modular_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b, r19:r18 m
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_modular_multiply, "ax", @progbits
	.global ws_modular_multiply
	.type ws_modular_multiply, @function
ws_modular_multiply:
	FRAME_ENTER FRAME+2
	adiw r28, 1
	std Y+FRAME, r25
	std Y+FRAME+1, r24
	movw T_POINTER, r28
	movw A_POINTER, r22
	movw B_POINTER, r20
	movw r30, r18
	ldd BYTES, Z+MODULUS_BYTES
	ldd INVERSE, Z+MODULUS_NEGATED_INVERSE
	ldd M_POINTER, Z+MODULUS_LIMBS
	ldd M_POINTER+1, Z+MODULUS_LIMBS+1
	mov LEFT_OF_A, BYTES
	mov CHUNKS, BYTES
	lsr CHUNKS
	lsr CHUNKS
	clr ZERO
	clr TOP
	ldi LEFT, FRAME
1:	st Y+, ZERO
	dec LEFT
	brne 1b

2:	movw r30, A_POINTER
	ld FACTOR, Z+
	movw A_POINTER, r30
	movw r26, B_POINTER
	movw r28, T_POINTER
	movw r30, M_POINTER
	ld BYTE, X
	mul FACTOR, BYTE
	ldd BYTE, Y+1
	add BYTE, r0
	mul BYTE, INVERSE
	mov CLEARING, r0
	clr SUM
	clr SUM+1
	mov LEFT, CHUNKS
3:	.irp k, 0, 1, 2, 3
	ldd BYTE, Y+1+\k
	add SUM+\k, BYTE
	adc SUM+\k+1, ZERO
	clr SUM+\k+2
	ld BYTE, X+
	mul FACTOR, BYTE
	add SUM+\k, r0
	adc SUM+\k+1, r1
	adc SUM+\k+2, ZERO
	ld BYTE, Z+
	mul CLEARING, BYTE
	add SUM+\k, r0
	adc SUM+\k+1, r1
	adc SUM+\k+2, ZERO
	std Y+\k, SUM+\k
	.endr
	movw SUM, SUM+4
	adiw r28, 4
	dec LEFT
	breq 4f
	rjmp 3b
4:	add SUM, TOP
	adc SUM+1, ZERO
	st Y, SUM
	mov TOP, SUM+1
	dec LEFT_OF_A
	breq 5f
	rjmp 2b

	/* Less the modulus if it is contained, to r; then the frame is wiped. */
5:	clr r1
	mov r18, TOP
	movw r28, T_POINTER
	ldd r26, Y+FRAME+1
	ldd r27, Y+FRAME
	adiw r28, 1
	movw r30, M_POINTER
	mov r20, BYTES
	rcall ws_modular_once
	movw r28, T_POINTER
	ldi LEFT, FRAME
6:	st Y+, r1
	dec LEFT
	brne 6b
	adiw r28, 1		; r, too, is dropped
	FRAME_LEAVE
	.size ws_modular_multiply, . - ws_modular_multiply
