@ SHA-512's compression function for ARMv6-M (Cortex-M0 and M0+): sha512.h's ws_sha512_blocks
@ (FIPS 180-4, section 6.4.2), the fast variant.
@
@ Cycles of a call with one block without wait states: 14740 on a Cortex-M0; stack 496 bytes;
@ flash 1262 and a table of 640.
@
@ Constant time: nothing depends on the data but the data; how it is read depends on whether its
@ address is divisible by four. The round constants are public and stay in flash. The frame is
@ wiped.
@
@ The idea. The working variables lie on the stack in an array that begins eight bytes lower each
@ round: a round stores the new a below it and the new e over d, and moves nothing. Every 16 rounds
@ the array goes back up. The message schedule is a ring whose words stand twice, 128 bytes apart,
@ so that no distance wraps.

	.syntax unified
	.thumb

#include "../sha512_constants.inc"

@ The frame from sp on while the array is at its upper end: the array, the schedule, the arguments.
	.equ	SCHEDULE, 64
	.equ	STATE, SCHEDULE + 256
	.equ	DATA, STATE + 4
	.equ	BLOCKS, STATE + 8
	.equ	ROOM, 128

@ r3, r2 = a function of section 4.1.3 of r1, r0, the high word first; r4: scratch.
.macro	large_sum_0
	lsrs	r2, r0, #28
	lsls	r4, r1, #4
	eors	r2, r4
	lsrs	r4, r1, #2
	eors	r2, r4
	lsls	r4, r0, #30
	eors	r2, r4
	lsrs	r4, r1, #7
	eors	r2, r4
	lsls	r4, r0, #25
	eors	r2, r4
	lsrs	r3, r1, #28
	lsls	r4, r0, #4
	eors	r3, r4
	lsrs	r4, r0, #2
	eors	r3, r4
	lsls	r4, r1, #30
	eors	r3, r4
	lsrs	r4, r0, #7
	eors	r3, r4
	lsls	r4, r1, #25
	eors	r3, r4
.endm
.macro	large_sum_1
	lsrs	r2, r0, #14
	lsls	r4, r1, #18
	eors	r2, r4
	lsrs	r4, r0, #18
	eors	r2, r4
	lsls	r4, r1, #14
	eors	r2, r4
	lsrs	r4, r1, #9
	eors	r2, r4
	lsls	r4, r0, #23
	eors	r2, r4
	lsrs	r3, r1, #14
	lsls	r4, r0, #18
	eors	r3, r4
	lsrs	r4, r1, #18
	eors	r3, r4
	lsls	r4, r0, #14
	eors	r3, r4
	lsrs	r4, r0, #9
	eors	r3, r4
	lsls	r4, r1, #23
	eors	r3, r4
.endm
.macro	small_sum_0 low, high
	lsrs	r2, \low, #1
	lsls	r4, \high, #31
	eors	r2, r4
	lsrs	r4, \low, #8
	eors	r2, r4
	lsls	r4, \high, #24
	eors	r2, r4
	lsrs	r4, \low, #7
	eors	r2, r4
	lsls	r4, \high, #25
	eors	r2, r4
	lsrs	r3, \high, #1
	lsls	r4, \low, #31
	eors	r3, r4
	lsrs	r4, \high, #8
	eors	r3, r4
	lsls	r4, \low, #24
	eors	r3, r4
	lsrs	r4, \high, #7
	eors	r3, r4
.endm
.macro	small_sum_1
	lsrs	r2, r0, #19
	lsls	r4, r1, #13
	eors	r2, r4
	lsrs	r4, r1, #29
	eors	r2, r4
	lsls	r4, r0, #3
	eors	r2, r4
	lsrs	r4, r0, #6
	eors	r2, r4
	lsls	r4, r1, #26
	eors	r2, r4
	lsrs	r3, r1, #19
	lsls	r4, r0, #13
	eors	r3, r4
	lsrs	r4, r0, #29
	eors	r3, r4
	lsls	r4, r1, #3
	eors	r3, r4
	lsrs	r4, r1, #6
	eors	r3, r4
.endm

@ r6, r5: the sum, the high word first.
.macro	add_to_sum high, low
	adds	r5, r5, \low
	adcs	r6, r6, \high
.endm

@ The word of a later round, at r7, from those of 16, 15, 7 and 2 rounds before. 68 cycles.
.macro	schedule
	movs	r4, r7
	ldmia	r4!, {r0, r1, r5, r6}
	small_sum_0 r5, r6
	adds	r0, r0, r2
	adcs	r1, r3
	ldr	r5, [r7, #72]
	ldr	r6, [r7, #76]
	add_to_sum r1, r0
	ldr	r0, [r7, #112]
	ldr	r1, [r7, #116]
	small_sum_1
	add_to_sum r3, r2
	stmia	r7!, {r5, r6}
	movs	r4, r7
	adds	r4, #120
	stmia	r4!, {r5, r6}
.endm

@ r9, r8: a; r11, r10: e; r6, r5: the word; r12: the constant. 114 cycles.
@ Ch is ((f ^ g) & e) ^ g, Maj ((a ^ c) & (b ^ c)) ^ c.
.macro	round
	mov	r4, r12
	ldmia	r4!, {r0, r1}
	mov	r12, r4
	add_to_sum r1, r0
	ldr	r0, [sp, #56]
	ldr	r1, [sp, #60]
	add_to_sum r1, r0
	mov	r0, r10
	mov	r1, r11
	large_sum_1
	add_to_sum r3, r2
	add	r4, sp, #40
	ldmia	r4, {r2, r3, r4}
	eors	r2, r4
	ands	r2, r0
	eors	r2, r4
	ldr	r4, [sp, #52]
	eors	r3, r4
	ands	r3, r1
	eors	r3, r4
	add_to_sum r3, r2
	ldr	r0, [sp, #24]
	ldr	r1, [sp, #28]
	adds	r0, r0, r5
	adcs	r1, r6
	str	r0, [sp, #24]
	str	r1, [sp, #28]
	mov	r10, r0
	mov	r11, r1
	mov	r0, r8
	mov	r1, r9
	large_sum_0
	add_to_sum r3, r2
	add	r4, sp, #8
	ldmia	r4, {r2, r3, r4}
	eors	r0, r4
	eors	r2, r4
	ands	r0, r2
	eors	r0, r4
	ldr	r4, [sp, #20]
	eors	r1, r4
	eors	r3, r4
	ands	r1, r3
	eors	r1, r4
	add_to_sum r1, r0
	mov	r8, r5
	mov	r9, r6
	push	{r5, r6}
.endm

	.section .text.ws_sha512_blocks, "ax", %progbits
	.balign	4
	.globl	ws_sha512_blocks
	.type	ws_sha512_blocks, %function
	.thumb_func
ws_sha512_blocks:
	cmp	r2, #0
	bne	0f
	bx	lr
0:	push	{r4-r7, lr}
	mov	r3, r8
	mov	r4, r9
	mov	r5, r10
	mov	r6, r11
	push	{r3-r6}
	push	{r0-r2}
	sub	sp, #(256 + 64)

1:	ldr	r0, [sp, #DATA]
	add	r7, sp, #SCHEDULE
	movs	r6, #8
	lsls	r1, r0, #30
	bne	8f
2:	ldmia	r0!, {r2, r3, r4, r5}
	rev	r1, r3
	rev	r2, r2
	rev	r3, r5
	rev	r4, r4
	stmia	r7!, {r1, r2, r3, r4}
	subs	r6, #1
	bne	2b
	b	4f
	@ By bytes, at an address that is not divisible by four.
8:	lsls	r6, r6, #1
2:
	.irp	to, r2, r1
	ldrb	\to, [r0]
	.irp	at, 1, 2, 3
	lsls	\to, \to, #8
	ldrb	r3, [r0, #\at]
	orrs	\to, r3
	.endr
	adds	r0, #4
	.endr
	stm	r7!, {r1, r2}
	subs	r6, #1
	bne	2b
4:	str	r0, [sp, #DATA]
	ldr	r0, [sp, #STATE]
	mov	r7, sp
	movs	r6, #8
2:	ldm	r0!, {r2, r3}
	movs	r4, r2
	stm	r7!, {r3, r4}
	subs	r6, #1
	bne	2b
	@ r7 is at the schedule.
	ldr	r0, [sp]
	ldr	r1, [sp, #4]
	mov	r8, r0
	mov	r9, r1
	ldr	r0, [sp, #32]
	ldr	r1, [sp, #36]
	mov	r10, r0
	mov	r11, r1
	ldr	r0, =sha512_k
	mov	r12, r0
3:	.rept	2
	ldmia	r7!, {r5, r6}
	round
	.endr
	mov	r0, r12
	lsls	r0, r0, #25
	bne	0f
	b	6f
0:	b	3b
	.ltorg
5:	schedule
	round
	schedule
	round
	mov	r0, r12
	lsls	r0, r0, #25
	beq	6f
	b	5b
	@ The array goes back up.
6:	mov	r0, sp
	mov	r7, sp
	adds	r7, #ROOM
	.rept	4
	ldm	r0!, {r1-r4}
	stm	r7!, {r1-r4}
	.endr
	add	sp, #ROOM
	@ r7 is at the schedule again.
	ldr	r0, =(sha512_k + 640)
	cmp	r12, r0
	beq	0f
	b	5b
0:	ldr	r0, [sp, #STATE]
	mov	r7, sp
	movs	r6, #8
7:	ldm	r7!, {r2, r3}
	ldr	r1, [r0, #4]
	ldr	r4, [r0]
	adds	r2, r2, r1
	adcs	r4, r3
	str	r4, [r0]
	str	r2, [r0, #4]
	adds	r0, #8
	subs	r6, #1
	bne	7b
	ldr	r0, [sp, #BLOCKS]
	subs	r0, #1
	str	r0, [sp, #BLOCKS]
	beq	0f
	b	1b
	@ All but the arguments, and where the array grew into.
0:	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	sub	sp, #ROOM
	mov	r7, sp
	movs	r0, #((ROOM + STATE) / 16)
8:	stm	r7!, {r1-r4}
	subs	r0, #1
	bne	8b
	add	sp, #(ROOM + STATE + 12)
	pop	{r3-r6}
	mov	r8, r3
	mov	r9, r4
	mov	r10, r5
	mov	r11, r6
	pop	{r4-r7, pc}
	.size	ws_sha512_blocks, . - ws_sha512_blocks
	.ltorg
