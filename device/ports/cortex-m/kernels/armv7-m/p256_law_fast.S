@ Points of P-256 for Cortex-M4 and M7: p256_law.h's two functions.
@
@ Constant time: no branch, no address and no instruction's duration depends on a coordinate.
@
@ The functions save the caller's registers once, and then call functions that save none and leave
@ the address of their result in r0. Cycles are those without wait states, call included.

	.syntax unified
	.thumb

	@ Of ws_p256_sum.
	.set	X, 0
	.set	Y, 32
	.set	Z, 64
	.set	T0, 96
	.set	T1, 128
	.set	T2, 160

@ ------------------------------------------------------------------ field

#include "p256_prime.inc"

@ r3 to r10 plus or minus (`first` and `then` are ADDS and ADCS, or SUBS and SBCS) the number at
@ r2. Clobbers r1, r2, r11, r12. 19 cycles.
.macro	combine_with first, then
	ldr.w	r1, [r2]
	ldr.w	r11, [r2, #4]
	ldr.w	r12, [r2, #8]
	\first\().w	r3, r3, r1
	\then\().w	r4, r4, r11
	\then\().w	r5, r5, r12
	ldr.w	r1, [r2, #12]
	ldr.w	r11, [r2, #16]
	ldr.w	r12, [r2, #20]
	\then\().w	r6, r6, r1
	\then\().w	r7, r7, r11
	\then\().w	r8, r8, r12
	ldr.w	r1, [r2, #24]
	ldr.w	r2, [r2, #28]
	\then\().w	r9, r9, r1
	\then\().w	r10, r10, r2
.endm

@ Takes p off r3 to r10 and `carry`, -1 where there is none beyond r10 and else 0, and adds it again
@ where that is negative. 18 cycles.
.macro	reduce_once carry
	adds.w	r3, r3, #1
	adcs.w	r4, r4, #0
	adcs.w	r5, r5, #0
	sbcs.w	r6, r6, #0
	less_p_from_4	r7, r8, r9, r10
	adc.w	\carry, \carry, #0
	plus_p	adds, \carry, r3, r4, r5, r6, r7, r8, r9, r10
.endm

@ Below, r0 is the address of the result, r1 and r2 those of the operands; all but r0, sp and lr is
@ clobbered.
	.section .text.ws_p256_law, "ax", %progbits
	.balign	4

@ r = a + b. 59 cycles.
	.type	sum, %function
	.thumb_func
sum:
	ldmia.w	r1, {r3-r10}
	combine_with	adds, adcs
	sbc.w	r1, r1, r1
	reduce_once	r1
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	sum, . - sum

@ r = a - b. 50 cycles.
	.balign	4
	.type	difference, %function
	.thumb_func
difference:
	ldmia.w	r1, {r3-r10}
	combine_with	subs, sbcs
	sbc.w	r1, r1, r1
	plus_p	adds, r1, r3, r4, r5, r6, r7, r8, r9, r10
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	difference, . - difference

@ r = a - 2 b. 72 cycles. What 2 b and the difference have beyond r10 is in r1: 0, -1 or -2, and as
@ often p is added.
	.balign	4
	.type	difference_twice, %function
	.thumb_func
difference_twice:
	ldmia.w	r2, {r3-r10}
	mov.w	r2, #0
	adds.w	r3, r3, r3
	adcs.w	r4, r4, r4
	adcs.w	r5, r5, r5
	adcs.w	r6, r6, r6
	adcs.w	r7, r7, r7
	adcs.w	r8, r8, r8
	adcs.w	r9, r9, r9
	adcs.w	r10, r10, r10
	adc.w	r2, r2, #0
	ldr.w	r11, [r1]
	ldr.w	r12, [r1, #4]
	subs.w	r3, r11, r3
	sbcs.w	r4, r12, r4
	ldr.w	r11, [r1, #8]
	ldr.w	r12, [r1, #12]
	sbcs.w	r5, r11, r5
	sbcs.w	r6, r12, r6
	ldr.w	r11, [r1, #16]
	ldr.w	r12, [r1, #20]
	sbcs.w	r7, r11, r7
	sbcs.w	r8, r12, r8
	ldr.w	r11, [r1, #24]
	ldr.w	r12, [r1, #28]
	sbcs.w	r9, r11, r9
	sbcs.w	r10, r12, r10
	sbc.w	r1, r1, r1
	sub.w	r1, r1, r2
	asr.w	r2, r1, #31
	plus_p	adds, r2, r3, r4, r5, r6, r7, r8, r9, r10, adcs
	adc.w	r1, r1, #0
	plus_p	adds, r1, r3, r4, r5, r6, r7, r8, r9, r10
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	difference_twice, . - difference_twice

@ r = 3 a / 2. 78 cycles. Half of a, or of a + p where a is odd, plus a.
	.balign	4
	.type	three_halves, %function
	.thumb_func
three_halves:
	ldmia.w	r1, {r3-r10}
	mov.w	r2, r1
	and.w	r11, r3, #1
	rsb.w	r11, r11, #0
	plus_p	adds, r11, r3, r4, r5, r6, r7, r8, r9, r10, adcs
	rrxs.w	r10, r10
	rrxs.w	r9, r9
	rrxs.w	r8, r8
	rrxs.w	r7, r7
	rrxs.w	r6, r6
	rrxs.w	r5, r5
	rrxs.w	r4, r4
	rrx.w	r3, r3
	combine_with	adds, adcs
	sbc.w	r1, r1, r1
	reduce_once	r1
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	three_halves, . - three_halves

@ ------------------------------------------------------------------ points

#include "sequence.inc"

.macro	multiply r, a, b
	apply	ws_p256_multiply_inner, \r, \a, \b
.endm

.macro	square r, a
	apply	ws_p256_square_inner, \r, \a
.endm

@ A function of p256_law.h: its beginning and its end.
.macro	begin name
	.section .text.\name, "ax", %progbits
	.balign	4
	.global	\name
	.type	\name, %function
	.thumb_func
\name:
	.set	AT, 0
	push.w	{r4-r11, lr}
.endm

.macro	finish name
	pop.w	{r4-r11, pc}
	.size	\name, . - \name
.endm

@ void ws_p256_point_double(ws_p256_sum *sum)
@ In: r0 sum, aligned to 4. Out: none; sum is written. Clobbers r0-r3, r12, flags.
@ Stack: 96 bytes. 1922 cycles. p256_law.c's steps; what is twice or three times a number is made at
@ once.
	begin	ws_p256_point_double
	square	T0, Z
	apply	difference, T1, X, T0
	apply	sum, T0, X, T0
	multiply	T1, T1, T0
	apply	three_halves, T1, T1
	multiply	Z, Z, Y
	square	Y, Y
	multiply	T0, X, Y
	square	Y, Y
	square	X, T1
	apply	difference_twice, X, X, T0
	apply	difference, T0, T0, X
	multiply	T0, T0, T1
	apply	difference, Y, T0, Y
	finish	ws_p256_point_double

@ void ws_p256_point_add(ws_p256_sum *sum)
@ In: r0 sum, aligned to 4. Out: none; sum is written. Clobbers r0-r3, r12, flags.
@ Stack: 96 bytes. 2542 cycles. p256_law.c's steps.
	begin	ws_p256_point_add
	square	T0, Z
	multiply	T1, T1, T0
	apply	difference, T1, T1, X
	multiply	T0, T0, Z
	multiply	T0, T0, T2
	apply	difference, T0, T0, Y
	multiply	Z, Z, T1
	square	T2, T1
	multiply	T1, T1, T2
	multiply	T2, T2, X
	square	X, T0
	apply	difference, X, X, T1
	apply	difference_twice, X, X, T2
	apply	difference, T2, T2, X
	multiply	T2, T2, T0
	multiply	T1, T1, Y
	apply	difference, Y, T2, T1
	finish	ws_p256_point_add
