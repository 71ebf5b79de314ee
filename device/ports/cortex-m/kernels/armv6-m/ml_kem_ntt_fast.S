@ The number-theoretic transform of ML-KEM for ARMv6-M (FIPS 203 section 4.3; contracts: ml_kem_polynomial.h), the fast variant.
@
@ Cycles on Cortex-M0 without wait states and with the multiplier of one cycle, from the call instruction to the return inclusive:
@ ws_ml_kem_ntt 12066, ws_ml_kem_inverse_ntt 14861, ws_ml_kem_accumulate 51 and 97 for each four coefficients.
@ Stack: 36 bytes. Flash: 1856 bytes and 1016 of constants. Clobbers: r0-r3, r12. Polynomials are 4-byte aligned.
@
@ Constant flow: no branch and no address depends on a coefficient. Registers are the caller's to clear.
@
@ The idea. Two coefficients are a word, between the passes not as two halves but as the number 2^16 high + low, so that ADDS and SUBS are
@ of both at once. A factor z is multiplied as Plantard does (2021; with signed numbers: Huang et al., "Improved Plantard arithmetic
@ for lattice-based cryptography", TCHES 2022), of which each product is the lower half that MULS gives: with z' = -2^32 z modulo q
@ times 1/q modulo 2^32, the product is (8 + the upper half of z' a modulo 2^32) q / 2^16, between -q/2 and q/2, right for
@ each a of 18 bits. Two layers at a time are done on four words.
@
@ How large coefficients get. Forward: q, and q/2 more in each of the seven layers. Backward: sums double. The first layer multiplies them too;
@ from q/2 on four layers give 8 q, below 2^15, of which only the first of each four words gets there: it is reduced then.
@ The last layer multiplies everything.

	.syntax unified
	.thumb

	.equ	Q, 3329
@ -1/q modulo 2^16.
	.equ	M, 3327

@ r4 = 2^16 (z \high) + (z \low), with r5 = z' and r6 = q; \low is r4 or what may be lost, as \high.
	.macro	multiply_halves low, high
	muls	\low, r5
	muls	\high, r5
	asrs	\low, \low, #16
	asrs	\high, \high, #16
	adds	\low, #8
	adds	\high, #8
	muls	\low, r6
	muls	\high, r6
	asrs	\low, \low, #16
	lsrs	\high, \high, #16
	lsls	\high, \high, #16
	.endm

@ The word w to r4, its low coefficient, and w, its high one.
	.macro	split w
	sxth	r4, \w
	subs	\w, \w, r4
	asrs	\w, \w, #16
	.endm

@ w = z w; z: a high register. Clobbers r4, r5.
	.macro	multiply w, z
	split	\w
	mov	r5, \z
	multiply_halves r4, \w
	adds	\w, \w, r4
	.endm

@ (a, b) to (a + z b, a - z b).
	.macro	forward a, b, z
	split	\b
	mov	r5, \z
	multiply_halves r4, \b
	adds	r4, r4, \b
	subs	\b, \a, r4
	adds	\a, \a, r4
	.endm

@ (a, b) to (a + b, z (b - a)).
	.macro	backward a, b, z
	subs	r4, \b, \a
	adds	\a, \a, \b
	movs	\b, r4
	multiply \b, \z
	.endm

@ A word of two halves to the number, and back. r5 = 2^15.
	.macro	number w
	eors	\w, r5
	subs	\w, \w, r5
	.endm

	.macro	halves w
	adds	\w, \w, r5
	eors	\w, r5
	.endm

	.macro	begin table
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	movs	r7, r0
	ldr	r0, =\table
	mov	r11, r0
	ldr	r6, =Q
	.endm

@ To the polynomial's beginning from its end.
	.macro	back
	movs	r0, #1
	lsls	r0, r0, #9
	subs	r7, r7, r0
	.endm

	.macro	end
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.endm

@ The next three factors to r8, r9, r10. Clobbers r0-r3.
	.macro	next_factors
	mov	r0, r11
	ldmia	r0!, {r1-r3}
	mov	r11, r0
	mov	r8, r1
	mov	r9, r2
	mov	r10, r3
	.endm

@ Two layers on blocks of four times `distance` bytes, from r7 on to the polynomial's end; r12 and lr are the ends of a quarter of a block,
@ and of the polynomial.
	.macro	two_layers direction, distance
	movs	r0, #1
	lsls	r0, r0, #9
	adds	r0, r0, r7
	mov	lr, r0
1:	next_factors
	movs	r0, r7
	adds	r0, #\distance
	mov	r12, r0
2:	ldr	r0, [r7]
	ldr	r1, [r7, #\distance]
	ldr	r2, [r7, #(2 * \distance)]
	ldr	r3, [r7, #(3 * \distance)]
	\direction
	str	r1, [r7, #\distance]
	str	r2, [r7, #(2 * \distance)]
	str	r3, [r7, #(3 * \distance)]
	stmia	r7!, {r0}
	cmp	r7, r12
	bne	2b
	adds	r7, #(3 * \distance)
	cmp	r7, lr
	beq	3f
	b	1b
3:
	.endm

@ The same on a single block of words 128 bytes apart; first and last are what is done to the words before and after.
	.macro	two_outer_layers direction, first, last
	next_factors
	movs	r0, r7
	adds	r0, #128
	mov	r12, r0
1:	ldr	r0, [r7]
	adds	r7, #128
	ldr	r1, [r7]
	adds	r7, #128
	ldr	r2, [r7]
	adds	r7, #128
	ldr	r3, [r7]
	\first
	\direction
	\last
	str	r3, [r7]
	subs	r7, #128
	str	r2, [r7]
	subs	r7, #128
	str	r1, [r7]
	subs	r7, #128
	stmia	r7!, {r0}
	cmp	r7, r12
	beq	2f
	b	1b
2:
	.endm

	.macro	none
	.endm

	.macro	outer_first
	forward	r0, r2, r8
	forward	r1, r3, r8
	forward	r0, r1, r9
	forward	r2, r3, r10
	.endm

	.macro	inner_first
	backward r0, r1, r8
	backward r2, r3, r9
	backward r0, r2, r10
	backward r1, r3, r10
	.endm

@ With the scaling of the sums.
	.macro	inner_first_scaled
	inner_first
	multiply r0, lr
	multiply r1, lr
	.endm

@ With a reduction of the sums of sums.
	.macro	inner_first_reduced
	inner_first
	split	r0
	ldr	r5, =ONE
	multiply_halves r4, r0
	adds	r0, r0, r4
	.endm

	.macro	to_numbers
	movs	r5, #128
	lsls	r5, r5, #8
	.irp	x, r0, r1, r2, r3
	number	\x
	.endr
	.endm

	.macro	to_halves
	movs	r5, #128
	lsls	r5, r5, #8
	.irp	x, r0, r1, r2, r3
	halves	\x
	.endr
	.endm

#include "../ml_kem_factors.inc"

@ The zetas of appendix A in the order of their use, algorithm 9; the last layer's are in order.
	.section .rodata.ws_ml_kem_ntt, "a", %progbits
	.balign	4
	.type	ws_ml_kem_forward, %object
ws_ml_kem_forward:
	factors_down 1
	.irp	k, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	factors_down \k
	.endr
	.set	k, 64
	.rept	64
	factor	k
	.set	k, k + 1
	.endr
	.size	ws_ml_kem_forward, . - ws_ml_kem_forward

@ And algorithm 10; the last one scaled.
	.section .rodata.ws_ml_kem_inverse_ntt, "a", %progbits
	.balign	4
	.type	ws_ml_kem_backward, %object
ws_ml_kem_backward:
	.rept	64
	.set	k, k - 1
	factor	k
	.endr
	.irp	k, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 7, 6, 5, 4
	factors_up \k
	.endr
	factor	3
	factor	2
	factor	1, 512
	.size	ws_ml_kem_backward, . - ws_ml_kem_backward

	.section .text.ws_ml_kem_ntt, "ax", %progbits
	.balign	4
	.global	ws_ml_kem_ntt
	.type	ws_ml_kem_ntt, %function
	.thumb_func
ws_ml_kem_ntt:
	begin	ws_ml_kem_forward
	two_outer_layers outer_first, to_numbers, none
	subs	r7, #128
	two_layers outer_first, 32
	back
	two_layers outer_first, 8
	back
	mov	r2, r11
1:	ldmia	r7!, {r0, r1}
	ldmia	r2!, {r5}
	split	r1
	multiply_halves r4, r1
	adds	r4, r4, r1
	subs	r1, r0, r4
	adds	r0, r0, r4
	movs	r5, #128
	lsls	r5, r5, #8
	halves	r0
	halves	r1
	subs	r7, #8
	stmia	r7!, {r0, r1}
	cmp	r7, lr
	bne	1b
	end
	.balign	4
	.ltorg
	.size	ws_ml_kem_ntt, . - ws_ml_kem_ntt

	.section .text.ws_ml_kem_inverse_ntt, "ax", %progbits
	.balign	4
	.global	ws_ml_kem_inverse_ntt
	.type	ws_ml_kem_inverse_ntt, %function
	.thumb_func
ws_ml_kem_inverse_ntt:
	begin	ws_ml_kem_backward
	movs	r0, #1
	lsls	r0, r0, #9
	adds	r0, r0, r7
	mov	lr, r0
@ The first layer, of halves of any size: sums as numbers of 17 bits.
1:	ldmia	r7!, {r0, r2}
	asrs	r1, r0, #16
	sxth	r0, r0
	asrs	r3, r2, #16
	sxth	r2, r2
	subs	r4, r2, r0
	adds	r0, r0, r2
	subs	r2, r3, r1
	adds	r1, r1, r3
	mov	r3, r11
	ldmia	r3!, {r5}
	mov	r11, r3
	multiply_halves r4, r2
	adds	r2, r2, r4
	ldr	r5, =ONE
	multiply_halves r0, r1
	adds	r0, r0, r1
	subs	r7, #8
	stmia	r7!, {r0, r2}
	cmp	r7, lr
	bne	1b
	back
	two_layers inner_first, 8
	back
	b	4f
	.balign	4
	.ltorg
4:	two_layers inner_first_reduced, 32
	back
	ldr	r0, =SCALE
	mov	lr, r0
	two_outer_layers inner_first_scaled, none, to_halves
	end
	.balign	4
	.ltorg
	.size	ws_ml_kem_inverse_ntt, . - ws_ml_kem_inverse_ntt

@ Two coefficients modulo X^2 - zeta or, with subs for operation, X^2 + zeta; r8 = z', r9 = q, r10 = -1/q.
	.macro	two_coefficients operation
	ldmia	r1!, {r3}
	ldmia	r2!, {r4}
	asrs	r5, r3, #16
	sxth	r3, r3
	asrs	r6, r4, #16
	sxth	r4, r4
	movs	r7, r6
	muls	r7, r3
	muls	r3, r4
	muls	r4, r5
	adds	r7, r7, r4
	mov	r4, r8
	muls	r6, r4
	asrs	r6, r6, #16
	adds	r6, #8
	mov	r4, r9
	muls	r6, r4
	asrs	r6, r6, #16
	muls	r6, r5
	\operation r3, r3, r6
@ Montgomery's reduction of r3 and r7, and the sum.
	mov	r5, r10
	movs	r6, r3
	muls	r6, r5
	sxth	r6, r6
	muls	r6, r4
	adds	r3, r3, r6
	asrs	r3, r3, #16
	muls	r5, r7
	sxth	r5, r5
	muls	r5, r4
	adds	r7, r7, r5
	asrs	r7, r7, #16
	ldr	r5, [r0]
	adds	r3, r3, r5
	lsrs	r5, r5, #16
	adds	r7, r7, r5
	strh	r3, [r0]
	strh	r7, [r0, #2]
	adds	r0, #4
	.endm

	.section .text.ws_ml_kem_accumulate, "ax", %progbits
	.balign	4
	.global	ws_ml_kem_accumulate
	.type	ws_ml_kem_accumulate, %function
	.thumb_func
@ in: r0 sum, r1 a, r2 b, r3 first, count on the stack.
ws_ml_kem_accumulate:
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	ldr	r4, [sp, #36]
	lsls	r4, r4, #3
	beq	2f
	adds	r4, r4, r0
	mov	r12, r4
@ The factors of the last forward layer are in order behind 63 others.
	ldr	r4, =(ws_ml_kem_forward + 252)
	lsls	r3, r3, #2
	adds	r3, r3, r4
	ldr	r5, =Q
	ldr	r6, =M
	mov	r9, r5
	mov	r10, r6
1:	ldmia	r3!, {r4}
	mov	r11, r3
	mov	r8, r4
	two_coefficients adds
	two_coefficients subs
	mov	r3, r11
	cmp	r0, r12
	bne	1b
2:	end
	.balign	4
	.ltorg
	.size	ws_ml_kem_accumulate, . - ws_ml_kem_accumulate
