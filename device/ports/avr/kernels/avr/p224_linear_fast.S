/*
 * Sums and differences modulo p = 2^224 - 2^96 + 1 for AVR, the fast variant: ws_p224_add
 * and ws_p224_subtract, whose contract is p224_field.h's.
 *
 * Cycles from the call instruction to the return inclusive, stack with the return
 * address, flash of the function alone:
 *
 *                         cycles   stack   flash
 *     ws_p224_add           376       4     466
 *     ws_p224_subtract      326       4     382
 *
 * Constant flow: no instruction and no address depends on the elements. r1 is 0 on
 * return, and at interrupts its value is saved by their routines.
 */

#include "numbers.inc"

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 *
 * One pass shows if the sum is p or more: it is if it carries, or if bytes from
 * 12 on are all 0xff and one of those before is not 0, which their conjunction and
 * disjunction tell.
 */
	.section .text.ws_p224_add, "ax", @progbits
	.global ws_p224_add
	.type ws_p224_add, @function
ws_p224_add:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	ldi r20, 0xff
	clr r19
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ld r18, X+
	ldd r0, Z+\n
	.if \n == 0
	add r18, r0
	.else
	adc r18, r0
	.endif
	.if \n < 12
	or r19, r18
	.else
	and r20, r18
	.endif
	std Y+\n, r18
	.endr
	LOAD_X 22, 4
	APPLY_MEMORY adc, adc, 22, Z+24, 4
	clr r26
	rol r26
	.irp n, 22, 23, 24, 25
	and r20, r\n
	.endr
	/* r26 = 0xff where p is to be subtracted, r27 what of it is at its byte of 1: the
	 * carries of bytes 11 and 27. */
	neg r19
	adc r20, r1
	adc r26, r1
	mov r27, r26
	neg r26
	ld r0, Y
	sub r0, r27
	st Y, r0
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
	ldd r0, Y+\n
	.if \n < 12
	sbc r0, r1
	.else
	sbc r0, r26
	.endif
	std Y+\n, r0
	.endr
	APPLY_ALL sbc, 22, r26, 4
	STORE Y+24, 22, 4
	pop r29
	pop r28
	ret
	.size ws_p224_add, . - ws_p224_add

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 b
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_p224_subtract, "ax", @progbits
	.global ws_p224_subtract
	.type ws_p224_subtract, @function
ws_p224_subtract:
	push r28
	push r29
	movw r26, r22
	movw r30, r20
	movw r28, r24
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
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
	APPLY_MEMORY sbc, sbc, 18, Z+20, 8
	sbc r26, r26
	mov r27, r26
	andi r27, 1
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
	ldd r0, Y+\n
	.if \n == 0
	add r0, r27
	.elseif \n < 12
	adc r0, r1
	.else
	adc r0, r26
	.endif
	std Y+\n, r0
	.endr
	APPLY_ALL adc, 18, r26, 8
	STORE Y+20, 18, 8
	pop r29
	pop r28
	ret
	.size ws_p224_subtract, . - ws_p224_subtract
