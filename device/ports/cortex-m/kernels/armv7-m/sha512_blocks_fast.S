@ SHA-512's compression function for ARMv7-M (Cortex-M3, M4 and M7): sha512.h's ws_sha512_blocks
@ (FIPS 180-4, section 6.4.2), the fast variant.
@
@ Cycles of a call with one block without wait states: 10495 on a Cortex-M4; stack 496 bytes; flash
@ 804 and a table of 640.
@
@ Constant time: nothing depends on the data but the data. The round constants are public and stay
@ in flash. The frame is wiped.
@
@ The idea. The working variables lie on the stack in an array that begins eight bytes lower each
@ round: a round stores the new a below it and the new e over d, and moves nothing. Every 16 rounds
@ the array goes back up. a and e are in registers, and so is b ^ c, which is a ^ b of the round
@ before: Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. The message schedule is a ring whose words stand
@ twice, 128 bytes apart, so that no distance wraps.

	.syntax unified
	.thumb

#include "../sha512_constants.inc"

@ The frame from sp on while the array is at its upper end: the array, the schedule, the arguments.
	.equ	SCHEDULE, 64
	.equ	STATE, SCHEDULE + 256
	.equ	DATA, STATE + 4
	.equ	BLOCKS, STATE + 8
	.equ	ROOM, 128

@ (to_low, to_high) = the sum of three rotations of (low, high) to the right: by \a below 32, by \b,
@ by \c; of those from 32 on the halves come swapped.
.macro	rotations to_low, to_high, low, high, a, b, c, b_low, b_high, c_low, c_high
	lsr.w	\to_low, \low, #\a
	lsr.w	\to_high, \high, #\a
	eor.w	\to_low, \to_low, \high, lsl #(32 - \a)
	eor.w	\to_high, \to_high, \low, lsl #(32 - \a)
	eor.w	\to_low, \to_low, \b_low, lsr #\b
	eor.w	\to_high, \to_high, \b_high, lsr #\b
	eor.w	\to_low, \to_low, \b_high, lsl #(32 - \b)
	eor.w	\to_high, \to_high, \b_low, lsl #(32 - \b)
	eor.w	\to_low, \to_low, \c_low, lsr #\c
	eor.w	\to_high, \to_high, \c_high, lsr #\c
	eor.w	\to_low, \to_low, \c_high, lsl #(32 - \c)
	.ifnc	\c_low, \low
	eor.w	\to_high, \to_high, \c_low, lsl #(32 - \c)
	.endif
.endm

.macro	add_to_sum low, high
	adds.w	r8, r8, \low
	adc.w	r9, r9, \high
.endm

@ r8, r9 = the word of a later round, from those of 16, 15, 7 and 2 rounds before.
.macro	schedule
	ldrd	r2, r3, [r12, #8]
	rotations r0, r1, r2, r3, 1, 8, 7, r2, r3, r2, r3
	ldrd	r8, r9, [r12]
	add_to_sum r0, r1
	ldrd	r2, r3, [r12, #72]
	add_to_sum r2, r3
	ldrd	r2, r3, [r12, #112]
	lsr.w	r0, r2, #19
	lsr.w	r1, r3, #19
	eor.w	r0, r0, r3, lsl #13
	eor.w	r1, r1, r2, lsl #13
	eor.w	r0, r0, r3, lsr #29
	eor.w	r1, r1, r2, lsr #29
	eor.w	r0, r0, r2, lsl #3
	eor.w	r1, r1, r3, lsl #3
	eor.w	r0, r0, r2, lsr #6
	eor.w	r1, r1, r3, lsr #6
	eor.w	r0, r0, r3, lsl #26
	add_to_sum r0, r1
	strd	r8, r9, [r12, #128]
	strd	r8, r9, [r12], #8
.endm

@ r4, r5: a; r6, r7: e; r8, r9: the word; r10, r11: b ^ c; lr: the constant.
.macro	round
	ldrd	r0, r1, [lr], #8
	add_to_sum r0, r1
	ldrd	r2, r3, [sp, #56]
	add_to_sum r2, r3
	ldrd	r0, r1, [sp, #40]
	ldrd	r2, r3, [sp, #48]
	eors	r0, r2
	eors	r1, r3
	ands	r0, r6
	ands	r1, r7
	eors	r0, r2
	eors	r1, r3
	add_to_sum r0, r1
	rotations r0, r1, r6, r7, 14, 18, 9, r6, r7, r7, r6
	add_to_sum r0, r1
	ldrd	r6, r7, [sp, #24]
	adds.w	r6, r6, r8
	adc.w	r7, r7, r9
	strd	r6, r7, [sp, #24]
	ldrd	r2, r3, [sp, #8]
	eor.w	r0, r4, r2
	eor.w	r1, r5, r3
	and.w	r10, r10, r0
	and.w	r11, r11, r1
	eor.w	r10, r10, r2
	eor.w	r11, r11, r3
	add_to_sum r10, r11
	mov	r10, r0
	mov	r11, r1
	rotations r0, r1, r4, r5, 28, 2, 7, r5, r4, r5, r4
	adds.w	r4, r8, r0
	adc.w	r5, r9, r1
	strd	r4, r5, [sp, #-8]!
.endm

	.section .text.ws_sha512_blocks, "ax", %progbits
	.balign	4
	.globl	ws_sha512_blocks
	.type	ws_sha512_blocks, %function
	.thumb_func
ws_sha512_blocks:
	cmp	r2, #0
	it	eq
	bxeq	lr
	push	{r0-r2, r4-r11, lr}
	sub	sp, #(256 + 64)
1:	ldr	r0, [sp, #DATA]
	add	r12, sp, #SCHEDULE
	movs	r3, #16
2:	ldr	r1, [r0], #4
	ldr	r2, [r0], #4
	rev	r1, r1
	rev	r2, r2
	strd	r2, r1, [r12], #8
	subs	r3, #1
	bne	2b
	str	r0, [sp, #DATA]
	ldr	r0, [sp, #STATE]
	mov	r12, sp
	movs	r3, #8
2:	ldrd	r1, r2, [r0], #8
	strd	r2, r1, [r12], #8
	subs	r3, #1
	bne	2b
	@ r12 is at the schedule.
	ldrd	r4, r5, [sp]
	ldrd	r6, r7, [sp, #32]
	ldrd	r10, r11, [sp, #8]
	ldrd	r0, r1, [sp, #16]
	eor.w	r10, r10, r0
	eor.w	r11, r11, r1
	ldr	lr, =sha512_k
3:	ldrd	r8, r9, [r12], #8
	round
	tst	lr, #127
	bne	3b
	b	6f
5:	schedule
	round
	tst	lr, #127
	bne	5b
	@ The array goes back up.
6:	add	r12, sp, #ROOM
	.rept	4
	ldm	sp!, {r0-r3}
	stm	r12!, {r0-r3}
	.endr
	add	sp, #(ROOM - 64)
	@ r12 is at the schedule again.
	ldr	r0, =(sha512_k + 640)
	cmp	lr, r0
	bne	5b
	ldr	r0, [sp, #STATE]
	mov	r12, sp
	movs	r3, #8
7:	ldrd	r4, r5, [r12], #8
	ldrd	r1, r2, [r0]
	adds	r2, r4
	adcs	r1, r5
	strd	r1, r2, [r0], #8
	subs	r3, #1
	bne	7b
	ldr	r0, [sp, #BLOCKS]
	subs	r0, #1
	str	r0, [sp, #BLOCKS]
	bne	1b
	@ All but the arguments, and where the array grew into.
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	sub	sp, #ROOM
	mov	r12, sp
	movs	r0, #((ROOM + STATE) / 16)
8:	stm	r12!, {r1-r4}
	subs	r0, #1
	bne	8b
	add	sp, #(ROOM + STATE + 12)
	pop	{r4-r11, pc}
	.size	ws_sha512_blocks, . - ws_sha512_blocks
	.ltorg
