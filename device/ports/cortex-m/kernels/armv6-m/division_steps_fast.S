@ Division steps for ARMv6-M (Cortex-M0): division_steps.h's ws_division_steps.
@
@ Constant time: one branch, on the number of steps; MULS takes a cycle whatever it multiplies.
@
@ What is done to u is done to v, and what to q to r: u + 2^16 v is one number, and q + 2^16 r. What a step adds is
@ chosen by factors 1, -1 and 0.

	.syntax unified
	.thumb

	.equ	STEPS, 14	@ WS_DIVISION_STEPS for limbs of 16 bits

@ r1: f, r2: g, r3: zeta, r4: u and v, r5: q and r. Clobbers r0, r6, r7. 23 cycles.
.macro	divide
	@ r0 = 0 if g is even; else 1, or -1 where zeta is negative. r6 = 1 if g is odd and zeta negative, else 0.
	asrs	r6, r3, #31
	movs	r7, #1
	ands	r7, r2
	mov	r0, r7
	eors	r0, r6
	subs	r0, r6
	ands	r6, r7
	mov	r7, r1
	muls	r7, r0
	adds	r2, r7
	muls	r0, r4
	adds	r5, r0
	mov	r7, r2
	muls	r7, r6
	adds	r1, r7
	mov	r7, r5
	muls	r7, r6
	adds	r4, r7
	@ zeta - 1, or -zeta - 2.
	rsbs	r6, r6, #0
	eors	r3, r6
	subs	r3, #1
	asrs	r2, r2, #1
	lsls	r4, r4, #1
.endm

@ ws_digit ws_division_steps(r0: zeta, r1: f, r2: g, r3: step). Out: r0.
@ 404 cycles without wait states, call included, 24 bytes of stack. Clobbers r1-r3.
	.section .text.ws_division_steps, "ax", %progbits
	.balign	4
	.global	ws_division_steps
	.type	ws_division_steps, %function
	.thumb_func
ws_division_steps:
	push	{r3-r7, lr}
	mov	r3, r0
	movs	r4, #1
	lsls	r5, r4, #16
	movs	r0, #STEPS / 2
	mov	r12, r0
1:	.rept	2
	divide
	.endr
	mov	r0, r12
	subs	r0, #1
	mov	r12, r0
	bne	1b
	mov	r0, r3
	pop	{r3}
	@ v = (u + 2^16 v - u) / 2^16.
	sxth	r6, r4
	subs	r4, r4, r6
	strh	r6, [r3]
	lsrs	r4, r4, #16
	strh	r4, [r3, #2]
	sxth	r6, r5
	subs	r5, r5, r6
	strh	r6, [r3, #4]
	lsrs	r5, r5, #16
	strh	r5, [r3, #6]
	pop	{r4-r7, pc}
	.size	ws_division_steps, . - ws_division_steps
