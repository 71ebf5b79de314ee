@ The ladder of X25519 for Cortex-M4 and M7: x25519_ladder.h's ws_x25519_ladder_climb.
@
@ Constant time: branches and addresses depend on the number of steps alone.
@
@ The functions that are called here save no register and leave the address of their result in r0.
@ Cycles are those without wait states, call included.

	.syntax unified
	.thumb

#include "x25519_sums.inc"

	@ Of ws_x25519_ladder.
	.set	X1, 0
	.set	X2, 32
	.set	Z2, 64
	.set	X3, 96
	.set	Z3, 128
	.set	A, 160
	.set	B, 192

#include "sequence.inc"

.macro	multiply r, a, b
	apply	ws_x25519_multiply_inner, \r, \a, \b
.endm

.macro	square r, a
	apply	ws_x25519_square_inner, \r, \a
.endm

@ ------------------------------------------------------------------ field

	.section .text.ws_x25519_ladder, "ax", %progbits

@ r2: the difference of the numbers at r1 and r2. r0, where A is: 121665 times that, plus the number
@ at r1, where Z2 is. 94 cycles.
	.balign	4
	.type	difference_and_sum, %function
	.thumb_func
difference_and_sum:
	ldmia.w	r1, {r3-r10}
	subtract_from	r2, r1, r11
	stmia.w	r2, {r3-r10}
	sub.w	r1, r0, #A - Z2
	movw	r11, #0xdb41
	movt	r11, #0x1
	mov.w	r12, #0
	ldr.w	r2, [r1, #28]
	umaal	r2, r12, r10, r11
	split	r12, r2, r10
	ldr.w	r10, [r1]
	umaal	r10, r12, r3, r11
	ldr.w	r3, [r1, #4]
	str.w	r10, [r0]
	umaal	r3, r12, r4, r11
	ldr.w	r4, [r1, #8]
	str.w	r3, [r0, #4]
	umaal	r4, r12, r5, r11
	ldr.w	r5, [r1, #12]
	str.w	r4, [r0, #8]
	umaal	r5, r12, r6, r11
	ldr.w	r6, [r1, #16]
	str.w	r5, [r0, #12]
	umaal	r6, r12, r7, r11
	ldr.w	r7, [r1, #20]
	str.w	r6, [r0, #16]
	umaal	r7, r12, r8, r11
	ldr.w	r8, [r1, #24]
	str.w	r7, [r0, #20]
	umaal	r8, r12, r9, r11
	add.w	r2, r2, r12
	str.w	r8, [r0, #24]
	str.w	r2, [r0, #28]
	bx	lr
	.size	difference_and_sum, . - difference_and_sum

@ The two numbers from r0 on: those from r1 on where the flags GE are set, else what is there. 77
@ cycles.
	.balign	4
	.type	choose_two, %function
	.thumb_func
choose_two:
	.set	PART, 0
	.rept	2
	ldmia.w	r0, {r3-r10}
	ldr.w	r2, [r1, #PART]
	ldr.w	r11, [r1, #PART + 4]
	ldr.w	r12, [r1, #PART + 8]
	sel	r3, r2, r3
	sel	r4, r11, r4
	sel	r5, r12, r5
	ldr.w	r2, [r1, #PART + 12]
	ldr.w	r11, [r1, #PART + 16]
	ldr.w	r12, [r1, #PART + 20]
	sel	r6, r2, r6
	sel	r7, r11, r7
	sel	r8, r12, r8
	ldr.w	r2, [r1, #PART + 24]
	ldr.w	r11, [r1, #PART + 28]
	sel	r9, r2, r9
	sel	r10, r11, r10
	stmia.w	r0!, {r3-r10}
	.set	PART, PART + 32
	.endr
	sub.w	r0, r0, #64
	bx	lr
	.size	choose_two, . - choose_two

@ ------------------------------------------------------------------ ladder

	@ Of what lies on the stack: the scalar's address, its bits that are still to come, how many, and
	@ the last bit, all ones for 1.
	.set	SCALAR, 0
	.set	BITS, 4
	.set	LEFT, 8
	.set	LAST, 12
	.set	FRAME, 16

@ void ws_x25519_ladder_climb(ws_x25519_ladder *ladder, const uint8_t scalar[32])
@ In: r0 ladder, aligned to 4, r1 scalar, any alignment. Out: none; ladder is written. Clobbers
@ r0-r3, r12, flags.
@ Stack: 100 bytes.
@ A bit that differs from the last one exchanges the two points; the lowest one is 0, so that none
@ is left to do. Of a step that matters to the double alone: the sum comes from both points alike,
@ up to a sign that is squared. So the double's operands are chosen, by SEL and the flags GE, which
@ UADD8 sets and nothing else here changes.
	.section .text.ws_x25519_ladder_climb, "ax", %progbits
	.balign	4
	.global	ws_x25519_ladder_climb
	.type	ws_x25519_ladder_climb, %function
	.thumb_func
ws_x25519_ladder_climb:
	push.w	{r4-r11, lr}
	sub.w	sp, sp, #FRAME
	mov.w	r2, #0
	mov.w	r3, #256
	str.w	r1, [sp, #SCALAR]
	str.w	r3, [sp, #LEFT]
	str.w	r2, [sp, #LAST]
	b.w	2f
	.set	AT, X1
1:	ldr.w	r4, [sp, #BITS]
	ldr.w	r5, [sp, #LAST]
	lsl.w	r6, r4, #1
	eor.w	r5, r5, r4, asr #31
	asr.w	r4, r4, #31
	str.w	r6, [sp, #BITS]
	str.w	r4, [sp, #LAST]
	uadd8	r5, r5, r5
	apply	ws_x25519_pair_inner, Z2, X2
	apply	ws_x25519_pair_inner, Z3, X3
	multiply	A, X3, Z2
	multiply	B, Z3, X2
	apply	choose_two, X2, X3
	apply	ws_x25519_pair_inner, B, A
	square	X3, B
	square	A, A
	multiply	Z3, A, X1
	@ The double: AA and BB of RFC 7748 section 5 in z2 and b, then their difference E in b.
	square	Z2, Z2
	square	B, X2
	multiply	X2, Z2, B
	apply	difference_and_sum, A, Z2, B
	multiply	Z2, A, B
	point_to	r0, X1
	ldr.w	r1, [sp, #LEFT]
	sub.w	r1, r1, #1
	str.w	r1, [sp, #LEFT]
	tst.w	r1, #31
	bne.w	1b
	cmp.w	r1, #0
	beq.w	3f
2:	@ The next 32 bits, from the highest on: those at LEFT - 32.
	ldr.w	r2, [sp, #SCALAR]
	ldr.w	r3, [sp, #LEFT]
	lsr.w	r3, r3, #3
	add.w	r2, r2, r3
	ldr.w	r2, [r2, #-4]
	str.w	r2, [sp, #BITS]
	b.w	1b
3:	add.w	sp, sp, #FRAME
	pop.w	{r4-r11, pc}
	.size	ws_x25519_ladder_climb, . - ws_x25519_ladder_climb
