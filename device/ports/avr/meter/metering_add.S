/*
 * Adds a pair of samples for AVR: ws_metering_add, whose contract is metering.h's, in place of
 * meter/metering_add.c.
 *
 * Cycles from the call instruction to the return inclusive: 295, and in one call of 125 those of
 * ws_metering_fold. Stack with the return address: 6 bytes, beside that function's.
 *
 * The idea: both samples lose their offsets first and stay in r16 to r23, where MULSU reaches them;
 * each product is added to its sum part by part as it is made, and none is ever whole.
 */

/* ws_metering_sums */
	.equ OFFSET_U, 0
	.equ OFFSET_I, 4
	.equ WINDOW_P0, 8
	.equ WINDOW_P1, 12
	.equ WINDOW_UU, 16
	.equ WINDOW_II, 20
	.equ LAST_I, 40
	.equ SAMPLES, 44
	.equ WINDOW, 125

	.equ U, 16		/* 2 bytes each */
	.equ I, 18
	.equ LAST, 20
	.equ ZERO, 31

/*
 * A sample less its offset, in quarters of a step; moves the offset on.
 * in, out: value, 2 bytes. Clobbers r22-r27, r30, r31.
 */
.macro without_offset value, offset
	/* The sample in 2^-4 steps stands over the upper half of the offset. */
	swap \value
	swap \value+1
	mov r22, \value
	andi r22, 0x0f
	andi \value, 0xf0
	andi \value+1, 0xf0
	or \value+1, r22
	ldd r24, Y+\offset
	ldd r25, Y+\offset+1
	ldd r26, Y+\offset+2
	ldd r27, Y+\offset+3
	clr r22
	clr r23
	sub r22, r24
	sbc r23, r25
	sbc \value, r26
	sbc \value+1, r27
	/* 2^-10 of that: its upper three bytes, shifted by two, and their sign. */
	movw r30, \value
	asr r31
	ror r30
	ror r23
	asr r31
	ror r30
	ror r23
	mov r22, r31
	lsl r22
	sbc r22, r22
	add r24, r23
	adc r25, r30
	adc r26, r31
	adc r27, r22
	std Y+\offset, r24
	std Y+\offset+1, r25
	std Y+\offset+2, r26
	std Y+\offset+3, r27
	/* From 2^-4 steps to quarters, rounded. */
	subi \value, lo8(-2)
	sbci \value+1, hi8(-2)
	asr \value+1
	ror \value
	asr \value+1
	ror \value
.endm

/*
 * Adds a product to a sum of 4 bytes.
 * in: a, b: signed, 2 bytes each in r16 to r23; ZERO: 0. Clobbers r0, r1, r24-r27.
 */
.macro accumulate sum, a, b
	ldd r24, Y+\sum
	ldd r25, Y+\sum+1
	ldd r26, Y+\sum+2
	ldd r27, Y+\sum+3
	mul \a, \b
	add r24, r0
	adc r25, r1
	adc r26, ZERO
	adc r27, ZERO
	muls \a+1, \b+1
	add r26, r0
	adc r27, r1
	/* The carry of MULSU is the sign of what it gives. */
	mulsu \a+1, \b
	sbc r27, ZERO
	add r25, r0
	adc r26, r1
	adc r27, ZERO
	mulsu \b+1, \a
	sbc r27, ZERO
	add r25, r0
	adc r26, r1
	adc r27, ZERO
	std Y+\sum, r24
	std Y+\sum+1, r25
	std Y+\sum+2, r26
	std Y+\sum+3, r27
.endm

/*
 * in: r25:r24 sums, r23:r22 voltage, r21:r20 current
 * Clobbers r0, r18-r27, r30, r31; r1 is 0 at the end.
 */
	.section .text.ws_metering_add, "ax", @progbits
	.global ws_metering_add
	.type ws_metering_add, @function
ws_metering_add:
	push r16
	push r17
	push r28
	push r29
	movw r28, r24
	movw U, r22
	movw I, r20
	without_offset U, OFFSET_U
	without_offset I, OFFSET_I
	clr ZERO
	accumulate WINDOW_P0, U, I
	ldd LAST, Y+LAST_I
	ldd LAST+1, Y+LAST_I+1
	accumulate WINDOW_P1, U, LAST
	std Y+LAST_I, I
	std Y+LAST_I+1, I+1
	accumulate WINDOW_UU, U, U
	accumulate WINDOW_II, I, I
	clr r1
	ldd r24, Y+SAMPLES
	inc r24
	std Y+SAMPLES, r24
	cpi r24, WINDOW
	brne 1f
	movw r24, r28
	call ws_metering_fold
1:	pop r29
	pop r28
	pop r17
	pop r16
	ret
	.size ws_metering_add, . - ws_metering_add
