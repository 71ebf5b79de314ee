@ SHA-512's compression function for ARMv7-M (Cortex-M3, M4 and M7): sha512.h's ws_sha512_blocks
@ (FIPS 180-4, section 6.4.2), the fast variant.
@
@ Cycles of a call with one block without wait states: 8930 on a Cortex-M4; stack 496 bytes; flash
@ 804 and a table of 640.
@
@ Constant time: nothing depends on the data but the data. The round constants are public and stay
@ in flash. The frame is wiped.
@
@ The idea. The working variables lie on the stack in an array that begins eight bytes lower each
@ round: a round stores the new a below it and the new e over d, and moves nothing. Every 16 rounds
@ the array goes back up. a and e are in registers, and so is b ^ c, which is a ^ b of the round
@ before: Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. Two rounds are one turn, after which b ^ c is back
@ in its registers. Loads stand in rows, of which each but the first takes a cycle, and the stores
@ of a round wait for the rows of the next. A sum of three rotations is one rotation of a sum with
@ two; its halves have no bits in common, and are added one after the other. The message schedule is
@ a ring whose words stand twice, 128 bytes apart, so that no distance wraps.

	.syntax unified
	.thumb

#include "../sha512_constants.inc"

@ The frame from sp on while the array is at its upper end: the array, the schedule, the arguments.
	.equ	SCHEDULE, 64
	.equ	STATE, SCHEDULE + 256
	.equ	DATA, STATE + 4
	.equ	BLOCKS, STATE + 8
	.equ	ROOM, 128

.macro	add_to_sum low, high
	adds.w	r8, r8, \low
	adc.w	r9, r9, \high
.endm

@ r0, r1 = a word and its rotations to the right by \b and \c, below 32. 8 instructions.
.macro	rotations low, high, b, c
	eor.w	r0, \low, \low, lsr #\b
	eor.w	r1, \high, \high, lsr #\b
	eor.w	r0, r0, \high, lsl #(32 - \b)
	eor.w	r1, r1, \low, lsl #(32 - \b)
	eor.w	r0, r0, \low, lsr #\c
	eor.w	r1, r1, \high, lsr #\c
	eor.w	r0, r0, \high, lsl #(32 - \c)
	eor.w	r1, r1, \low, lsl #(32 - \c)
.endm

@ (to_low, to_high) = the sum and r0, r1 rotated to the right by \a.
.macro	add_rotated to_low, to_high, a
	adds.w	r8, r8, r0, lsr #\a
	adc.w	r9, r9, r1, lsr #\a
	adds.w	\to_low, r8, r1, lsl #(32 - \a)
	adc.w	\to_high, r9, r0, lsl #(32 - \a)
.endm

@ r8, r9 = the word of a later round, from those of 16, 15, 7 and 2 rounds before; \at: its place
@ after r12. In sigma0, r0 and r1 begin as the shifted word. The round stores it. Changes \p, \q.
.macro	schedule at, p, q
	ldr.w	r8, [r12, #\at]
	ldr.w	r9, [r12, #\at + 4]
	ldr.w	\p, [r12, #\at + 8]
	ldr.w	\q, [r12, #\at + 12]
	lsr.w	r0, \p, #7
	lsr.w	r1, \q, #7
	eor.w	r0, r0, \q, lsl #25
	eor.w	\q, \q, r1
	eor.w	\q, \q, \p, lsl #25
	eor.w	\p, \p, r0
	eor.w	r0, r0, \p, lsr #1
	eor.w	r1, r1, \q, lsr #1
	eor.w	r0, r0, \q, lsl #31
	eor.w	r1, r1, \p, lsl #31
	add_to_sum r0, r1
	ldr.w	r0, [r12, #\at + 72]
	ldr.w	r1, [r12, #\at + 76]
	ldr.w	\p, [r12, #\at + 112]
	ldr.w	\q, [r12, #\at + 116]
	add_to_sum r0, r1
	lsr.w	r0, \p, #19
	lsr.w	r1, \q, #19
	eor.w	r0, r0, \q, lsl #13
	eor.w	r1, r1, \p, lsl #13
	eor.w	r0, r0, \q, lsr #29
	eor.w	r1, r1, \p, lsr #29
	eor.w	r0, r0, \p, lsl #3
	eor.w	r1, r1, \q, lsl #3
	eor.w	r0, r0, \p, lsr #6
	eor.w	r1, r1, \q, lsr #6
	eor.w	r0, r0, \q, lsl #26
	add_to_sum r0, r1
.endm

@ r4, r5: a; r6, r7: e; r8, r9: the word; \x, \y: b ^ c, in \p, \q when it ends; lr + \k: the
@ constant; sp + \at: the array; \word: where after r12 the word goes, if it is a new one.
.macro	round at, k, x, y, p, q, word
	ldr.w	r0, [lr, #\k]
	ldr.w	r1, [lr, #\k + 4]
	ldr.w	\p, [sp, #\at + 56]
	ldr.w	\q, [sp, #\at + 60]
	str.w	r4, [sp, #\at]
	str.w	r5, [sp, #\at + 4]
	.ifnb	\word
	str.w	r8, [r12, #\word]
	str.w	r9, [r12, #\word + 4]
	str.w	r8, [r12, #\word + 128]
	str.w	r9, [r12, #\word + 132]
	.endif
	add_to_sum r0, r1
	add_to_sum \p, \q
	ldr.w	r0, [sp, #\at + 40]
	ldr.w	r1, [sp, #\at + 44]
	ldr.w	\p, [sp, #\at + 48]
	ldr.w	\q, [sp, #\at + 52]
	str.w	r6, [sp, #\at + 32]
	str.w	r7, [sp, #\at + 36]
	eor.w	r0, r0, \p
	eor.w	r1, r1, \q
	and.w	r0, r0, r6
	and.w	r1, r1, r7
	eor.w	r0, r0, \p
	eor.w	r1, r1, \q
	add_to_sum r0, r1
	rotations r6, r7, 4, 27
	add_rotated r8, r9, 14
	ldr.w	r6, [sp, #\at + 24]
	ldr.w	r7, [sp, #\at + 28]
	ldr.w	r0, [sp, #\at + 8]
	ldr.w	r1, [sp, #\at + 12]
	adds.w	r6, r6, r8
	adc.w	r7, r7, r9
	eor.w	\p, r4, r0
	eor.w	\q, r5, r1
	and.w	\x, \x, \p
	and.w	\y, \y, \q
	eor.w	\x, \x, r0
	eor.w	\y, \y, r1
	add_to_sum \x, \y
	rotations r4, r5, 6, 11
	add_rotated r4, r5, 28
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
	movs	r3, #8
2:	ldr	r1, [r0]
	ldr	r2, [r0, #4]
	ldr	r4, [r0, #8]
	ldr	r5, [r0, #12]
	adds	r0, #16
	rev	r1, r1
	rev	r2, r2
	rev	r4, r4
	rev	r5, r5
	str	r2, [r12], #4
	str	r1, [r12], #4
	str	r5, [r12], #4
	str	r4, [r12], #4
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
	.balign	4
3:	sub.w	sp, sp, #16
	ldr.w	r8, [r12]
	ldr.w	r9, [r12, #4]
	round	16, 0, r10, r11, r2, r3
	ldr.w	r8, [r12, #8]
	ldr.w	r9, [r12, #12]
	round	8, 8, r2, r3, r10, r11
	add.w	r12, r12, #16
	add.w	lr, lr, #16
	tst.w	lr, #127
	bne.w	3b
	b.w	6f
	.balign	4
5:	sub.w	sp, sp, #16
	schedule 0, r2, r3
	round	16, 0, r10, r11, r2, r3, 0
	schedule 8, r10, r11
	round	8, 8, r2, r3, r10, r11, 8
	add.w	r12, r12, #16
	add.w	lr, lr, #16
	tst.w	lr, #127
	bne.w	5b
6:	str	r4, [sp]
	str	r5, [sp, #4]
	str	r6, [sp, #32]
	str	r7, [sp, #36]
	@ The array goes back up.
	add	r12, sp, #ROOM
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
