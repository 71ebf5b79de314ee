@ Division steps for ARMv7-M (Cortex-M3, M4 and M7): division_steps.h's ws_division_steps, 30 steps on
@ Cortex-M4 and M7, 14 on M3.
@
@ Constant time: no branch, no address and no instruction's duration depends on a secret. MLA and
@ MLS take one cycle on Cortex-M4 and M7 and two on M3, whatever they multiply.
@
@ What is to be added is multiplied by 0, 1 or -1. So u and v share a word, u + 2^16 v, and q and
@ r another: sums and multiples of the words are those of the numbers, as long as the numbers stay below
@ 2^15 in magnitude. The magnitudes of a row add up to 2^n at most after n steps. That makes 15 steps
@ at once if u and v are doubled only after they are taken apart. Neither q nor r is 2^15 then:
@ the other would be 0, and as the determinant is 2^15, u or v would be odd.

	.syntax unified
	.thumb

#ifdef __ARM_FEATURE_DSP
	.set	ROUNDS, 3
	.set	STEPS, 5
#else
	.set	ROUNDS, 2
	.set	STEPS, 7
#endif

@ A step on zeta, f, g in r0-r2, u and v in r4, not doubled, q and r in r5. 10 cycles, 14 on Cortex-M3.
@ r6 is all ones if g is odd, r7 if delta is positive, too; then r6 is 0, 1 or -1. Clobbers r6, r7.
.macro	step
	sbfx	r6, r2, #0, #1
	and.w	r7, r6, r0, asr #31
	rsb.w	r6, r6, r7, lsl #1
	eor.w	r0, r0, r7
	mla	r2, r1, r6, r2
	mla	r5, r4, r6, r5
	mls	r1, r2, r7, r1
	mls	r4, r5, r7, r4
	asr.w	r2, r2, #1
	sub.w	r0, r0, #1
.endm

@ ROUNDS times STEPS steps, after the last of which u and v are half of what they should be. Clobbers
@ r6, r7, r12, flags.
.macro	steps
	mov.w	r4, #1
	mov.w	r5, #0x10000
	mov.w	r12, #ROUNDS
	b.w	2f
1:	lsl.w	r4, r4, #1
2:	step
	.rept	STEPS - 1
	lsl.w	r4, r4, #1
	step
	.endr
	subs.w	r12, r12, #1
	bne.w	1b
.endm

@ Takes `word` apart. `high` may be `word`. 3 cycles.
.macro	take_apart word, low, high
	sxth.w	\low, \word
	sub.w	\high, \word, \low
	asr.w	\high, \high, #16
.endm

@ ws_digit ws_division_steps(ws_digit zeta, ws_unsigned_digit f, ws_unsigned_digit g,
@                            ws_transition *step)
@ In: r0 zeta, r1 f, r2 g, r3 step, aligned to its members. Out: r0 zeta, and step is written. Clobbers r1-r3,
@ r12, flags. Stack: 32 bytes, 16 on Cortex-M3. Cycles without wait states, call included: 405 on
@ Cortex-M4, 245 on M3.
	.section .text.ws_division_steps, "ax", %progbits
	.balign	4
	.global	ws_division_steps
	.type	ws_division_steps, %function
	.thumb_func
ws_division_steps:
#ifdef __ARM_FEATURE_DSP
	push.w	{r4-r11}
	steps
	take_apart	r4, r8, r9
	take_apart	r5, r10, r11
	lsl.w	r8, r8, #1
	lsl.w	r9, r9, #1
	steps
	take_apart	r4, r6, r4
	take_apart	r5, r7, r5
	@ The second 15 steps after the first: the product of the matrices.
	mul	r1, r6, r8
	mul	r2, r6, r9
	mul	r8, r7, r8
	mul	r9, r7, r9
	mla	r1, r4, r10, r1
	mla	r2, r4, r11, r2
	mla	r8, r5, r10, r8
	mla	r9, r5, r11, r9
	lsl.w	r1, r1, #1
	lsl.w	r2, r2, #1
	stmia.w	r3, {r1, r2, r8, r9}
	pop.w	{r4-r11}
#else
	push.w	{r4-r7}
	steps
	take_apart	r4, r6, r4
	take_apart	r5, r7, r5
	lsl.w	r6, r6, #1
	lsl.w	r4, r4, #1
	strh.w	r6, [r3]
	strh.w	r4, [r3, #2]
	strh.w	r7, [r3, #4]
	strh.w	r5, [r3, #6]
	pop.w	{r4-r7}
#endif
	bx	lr
	.size	ws_division_steps, . - ws_division_steps
