/*
 * Sums and differences modulo p = 2^192 - 2^64 - 1 for AVR, the fast variant: ws_p192_add
 * and ws_p192_subtract, whose contract is p192_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone:
 *
 *                         cycles   stack   flash
 *     ws_p192_add           325       4     404
 *     ws_p192_subtract      277       4     324
 *
 * Constant flow: no instruction and no address depends on the elements. r1 is 0 on
 * return, and at interrupts its value is saved by their routines.
 */

#include "numbers.inc"

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 *
 * One pass shows if the sum is p or more: it is if it plus 2^64 + 1 carries
 * beyond 192 bits. Bytes from 0 to 7 do so if all are 0xff, which their conjunction tells,
 * and so do those from 9 on.
 */
	.section .text.ws_p192_add, "ax", @progbits
	.global ws_p192_add
	.type ws_p192_add, @function
ws_p192_add:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	ldi r19, 0xff
	ldi r21, 0xff
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
	ld r18, X+
	ldd r0, Z+\n
	.if \n == 0
	add r18, r0
	.else
	adc r18, r0
	.endif
	.if \n < 8
	and r19, r18
	.elseif \n == 8
	mov r20, r18
	.else
	and r21, r18
	.endif
	std Y+\n, r18
	.endr
	LOAD_X 22, 4
	APPLY_MEMORY adc, adc, 22, Z+20, 4
	clr r26
	rol r26
	.irp n, 22, 23, 24, 25
	and r21, r\n
	.endr
	/* Carries of bytes 7, 8 and 23. */
	sec
	adc r19, r1
	ldi r18, 1
	adc r20, r18
	adc r21, r1
	adc r26, r1
	ld r0, Y
	add r0, r26
	st Y, r0
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
	ldd r0, Y+\n
	.if \n == 8
	adc r0, r26
	.else
	adc r0, r1
	.endif
	std Y+\n, r0
	.endr
	APPLY_ALL adc, 22, r1, 4
	STORE Y+20, 22, 4
	pop r29
	pop r28
	ret
	.size ws_p192_add, . - ws_p192_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p192_subtract, "ax", @progbits
	.global ws_p192_subtract
	.type ws_p192_subtract, @function
ws_p192_subtract:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
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
	APPLY_MEMORY sbc, sbc, 18, Z+16, 8
	sbc r26, r26
	/* Plus p is minus 2^64 + 1. */
	andi r26, 1
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ldd r0, Y+\n
	.if \n == 0
	sub r0, r26
	.elseif \n == 8
	sbc r0, r26
	.else
	sbc r0, r1
	.endif
	std Y+\n, r0
	.endr
	APPLY_ALL sbc, 18, r1, 8
	STORE Y+16, 18, 8
	pop r29
	pop r28
	ret
	.size ws_p192_subtract, . - ws_p192_subtract
