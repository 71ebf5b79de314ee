/*
 * The number-theoretic transform of ML-DSA for ARMv7E-M (FIPS 204 section 7.5; contracts: ml_dsa_polynomial.h), the fast variant. Cortex-M3, whose
 * long products take a time that depends on their operands, takes the C file.
 *
 * Stack: 44 bytes at most. Clobbers: r0 to r3, r12. Polynomials are 4-byte aligned.
 *
 * Constant flow: no branch and no address depends on a coefficient. Registers are the caller's to clear.
 *
 * The idea. Montgomery's product with a factor z is three instructions: the product of 64 bits, its lower half times -1/q modulo 2^32, and that
 * times q added, whose upper half is then the result, between -q and q. Two layers at a time are done on four words.
 *
 * How large coefficients get. Forward: q more in each of the eight layers. Backward: sums double; from 3/4 q on eight layers give 192 q,
 * below 2^31. They are reduced at the beginning; the last layer multiplies everything.
 */
	.syntax unified
	.thumb

#define Q 8380417
/* -1/q modulo 2^32. */
#define INVERSE 0xfc7fdfff
/* 2^64 / 256 modulo q: out of Montgomery's form of a product of two, and the scaling of algorithm 42; and that times the last factor. */
#define SCALE 41978
#define SCALED 4404704

#define q r12
#define inverse r11

	.macro constants
	movw q, #(Q & 0xffff)
	movt q, #(Q >> 16)
	movw inverse, #(INVERSE & 0xffff)
	movt inverse, #(INVERSE >> 16)
	.endm

/* d = a z / 2^32. d may be a. */
	.macro multiply d, a, z
	smull r2, \d, \a, \z
	mul r3, r2, inverse
	smlal r2, \d, r3, q
	.endm

/* (a, b) to (a + z b, a - z b). */
	.macro forward a, b, z
	multiply \b, \b, \z
	add \a, \a, \b
	sub.w \b, \a, \b, lsl #1
	.endm

/* (a, b) to (a + b, z (b - a)). */
	.macro backward a, b, z
	add \a, \a, \b
	rsb.w \b, \a, \b, lsl #1
	multiply \b, \b, \z
	.endm

/* a modulo q, between -3/4 q and 3/4 q. */
	.macro reduce a
	add r2, \a, #(1 << 22)
	asr r2, r2, #23
	mls \a, r2, q, \a
	.endm

	.macro forward_two
	forward r4, r6, r8
	forward r5, r7, r8
	forward r4, r5, r9
	forward r6, r7, r10
	.endm

	.macro backward_two
	backward r4, r5, r8
	backward r6, r7, r9
	backward r4, r6, r10
	backward r5, r7, r10
	.endm

/* The last two layers, with the scaling, whose factor is in r1. */
	.macro backward_two_scaled
	backward r4, r5, r8
	backward r6, r7, r9
	backward r4, r6, r10
	backward r5, r7, r10
	multiply r4, r4, r1
	multiply r5, r5, r1
	.endm

/* The factors of a block: of the outer layer from r1 on, of the inner one from what the stack has on. */
	.macro factors_forward
	ldr r2, [sp]
	ldr r8, [r1], #4
	ldrd r9, r10, [r2], #8
	str r2, [sp]
	.endm
	.macro factors_backward
	ldr r2, [sp]
	ldr r10, [r1], #-4
	ldrd r9, r8, [r2], #-8
	str r2, [sp]
	.endm
	.macro factors_scaled
	ldr r2, [sp]
	movw r10, #(SCALED & 0xffff)
	movt r10, #(SCALED >> 16)
	movw r1, #(SCALE & 0xffff)
	movt r1, #(SCALE >> 16)
	ldrd r9, r8, [r2]
	.endm

/* Begins two layers, whose factors begin at these words of the table. On the stack: where the inner layer's are, where the polynomial ends. */
	.macro begin_layers outer, inner
	movw r1, #:lower16:(ws_ml_dsa_zetas + 4 * \outer)
	movt r1, #:upper16:(ws_ml_dsa_zetas + 4 * \outer)
	add.w r2, r1, #(4 * (\inner - \outer))
	add.w r3, r0, #1024
	push {r2, r3}
	.endm
	.macro end_layers
	add sp, sp, #8
	sub.w r0, r0, #1024
	.endm

/* Two layers on blocks of four times `distance` bytes. */
	.macro two_layers direction, factors, outer, inner, distance
	begin_layers \outer, \inner
1:	\factors
	add.w lr, r0, #\distance
	.balign 4
2:	ldr.w r5, [r0, #\distance]
	ldr.w r6, [r0, #(2 * \distance)]
	ldr.w r7, [r0, #(3 * \distance)]
	ldr.w r4, [r0]
	\direction
	str.w r5, [r0, #\distance]
	str.w r6, [r0, #(2 * \distance)]
	str.w r7, [r0, #(3 * \distance)]
	str r4, [r0], #4
	cmp r0, lr
	bne 2b
	ldr r4, [sp, #4]
	add.w r0, r0, #(3 * \distance)
	cmp r0, r4
	bne 1b
	end_layers
	.endm

	.section .text.ws_ml_dsa_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_dsa_ntt
	.type ws_ml_dsa_ntt, %function
	.thumb_func
ws_ml_dsa_ntt:
	push {r4-r11, lr}
	constants
	two_layers forward_two, factors_forward, 1, 2, 256
	two_layers forward_two, factors_forward, 4, 8, 64
	two_layers forward_two, factors_forward, 16, 32, 16
	begin_layers 64, 128
	ldr lr, [sp, #4]
	.balign 4
1:	factors_forward
	ldm r0, {r4-r7}
	forward_two
	stm r0!, {r4-r7}
	cmp r0, lr
	bne 1b
	add sp, sp, #8
	pop {r4-r11, pc}
	.size ws_ml_dsa_ntt, . - ws_ml_dsa_ntt

	.section .text.ws_ml_dsa_inverse_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_dsa_inverse_ntt
	.type ws_ml_dsa_inverse_ntt, %function
	.thumb_func
ws_ml_dsa_inverse_ntt:
	push {r4-r11, lr}
	constants
	begin_layers 127, 254
	ldr lr, [sp, #4]
	.balign 4
1:	factors_backward
	ldm r0, {r4-r7}
	reduce r4
	reduce r5
	reduce r6
	reduce r7
	backward_two
	stm r0!, {r4-r7}
	cmp r0, lr
	bne 1b
	end_layers
	two_layers backward_two, factors_backward, 31, 62, 16
	two_layers backward_two, factors_backward, 7, 14, 64
	two_layers backward_two_scaled, factors_scaled, 1, 2, 256
	pop {r4-r11, pc}
	.size ws_ml_dsa_inverse_ntt, . - ws_ml_dsa_inverse_ntt

	.section .text.ws_ml_dsa_accumulate, "ax", %progbits
	.balign 4
	.global ws_ml_dsa_accumulate
	.type ws_ml_dsa_accumulate, %function
	.thumb_func
/* in: r0 sum, r1 a, r2 b, r3 count. */
ws_ml_dsa_accumulate:
	cbz r3, 2f
	push {r4-r8, r11, lr}
	constants
	add r8, r0, r3, lsl #2
	mov lr, r2
	.balign 4
1:	ldr r4, [r1], #4
	ldr r5, [lr], #4
	ldr r6, [r0]
	multiply r7, r4, r5
	add r6, r6, r7
	str r6, [r0], #4
	cmp r0, r8
	bne 1b
	pop {r4-r8, r11, pc}
2:	bx lr
	.size ws_ml_dsa_accumulate, . - ws_ml_dsa_accumulate
