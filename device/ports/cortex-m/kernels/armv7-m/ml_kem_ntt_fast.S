/*
 * The number-theoretic transform of ML-KEM for ARMv7E-M (FIPS 203 section 4.3; contracts: ml_kem_polynomial.h), the fast
 * variant, with the DSP instructions. Cortex-M3 has none and takes the C file.
 *
 * Cycles on Cortex-M4 without wait states, from the call instruction to the return inclusive: ws_ml_kem_ntt 5312, ws_ml_kem_inverse_ntt
 * 7299, ws_ml_kem_accumulate 36 and 42 for each four coefficients.
 * Stack: 48 bytes at most. Flash: 1576 bytes and 1016 of constants. Clobbers: r0 to r3, r12. Polynomials are 4-byte aligned.
 *
 * Constant flow: no branch and no address depends on a coefficient. Registers are the caller's to clear.
 *
 * The idea. Two coefficients are a word. A factor z is multiplied as Plantard does (2021; with signed numbers: Huang et al., "Improved
 * Plantard arithmetic for lattice-based cryptography", TCHES 2022): with z' = -2^32 z modulo q times 1/q modulo 2^32, the product
 * is (8 + the upper half of z' a modulo 2^32) q / 2^16, between -q/2 and q/2, two instructions. Two layers at a time are done on four words.
 *
 * How large coefficients get. Forward: q, and q/2 more in each of the seven layers. Backward: sums double; from q/2 on four layers
 * give 8 q, below 2^15. They are reduced at the beginning and before the fourth layer; the last one multiplies everything.
 */
	.syntax unified
	.thumb

#define Q 3329

/* What all functions have in registers: q; 8 q. Scratch of products. */
#define q lr
#define q8 r2
#define t0 r11
#define t1 r12

/* d = a z. d may be a, and a t0. */
	.macro multiply d, a, z
	smulwt t1, \z, \a
	smulwb t0, \z, \a
	smlabb t0, t0, q, q8
	smlabb t1, t1, q, q8
	pkhtb \d, t1, t0, asr #16
	.endm

/* (a, b) to (a + z b, a - z b). */
	.macro forward a, b, z
	multiply t0, \b, \z
	usub16 \b, \a, t0
	uadd16 \a, \a, t0
	.endm

/* (a, b) to (a + b, z (b - a)). */
	.macro backward a, b, z
	usub16 t0, \b, \a
	uadd16 \a, \a, \b
	multiply \b, t0, \z
	.endm

	.macro begin table
	push {r4-r11, lr}
	movw r1, #:lower16:\table
	movt r1, #:upper16:\table
	movw q, #Q
	mov.w q8, #(8 * Q)
	.endm

/* Two layers on blocks of four times `distance` bytes, whose factors are three words of the table each. first: of the layer
 * that the direction begins with. */
	.macro two_layers direction, distance, reduced
	add r3, r0, #512
	push {r0, r3}
1:	ldm r1!, {r8-r10}
	add.w r3, r0, #\distance
2:	ldr.w r5, [r0, #\distance]
	ldr.w r6, [r0, #(2 * \distance)]
	ldr.w r7, [r0, #(3 * \distance)]
	ldr.w r4, [r0]
	\direction \reduced
	str.w r5, [r0, #\distance]
	str.w r6, [r0, #(2 * \distance)]
	str.w r7, [r0, #(3 * \distance)]
	str r4, [r0], #4
	cmp r0, r3
	bne 2b
	ldr r4, [sp, #4]
	add.w r0, r0, #(3 * \distance)
	cmp r0, r4
	bne 1b
	pop {r0, r3}
	.endm

	.macro outer_first reduced
	forward r4, r6, r8
	forward r5, r7, r8
	forward r4, r5, r9
	forward r6, r7, r10
	.endm

	.macro inner_first reduced
	.if \reduced
	push {r3}
	movw r3, #:lower16:ONE
	movt r3, #:upper16:ONE
	multiply r4, r4, r3
	multiply r5, r5, r3
	multiply r6, r6, r3
	multiply r7, r7, r3
	pop {r3}
	.endif
	backward r4, r5, r8
	backward r6, r7, r9
	backward r4, r6, r10
	backward r5, r7, r10
	.endm

/* The last two layers, with the scaling. */
	.macro inner_first_scaled reduced
	backward r4, r5, r8
	backward r6, r7, r9
	push {r3}
	movw r3, #:lower16:SCALE
	movt r3, #:upper16:SCALE
	backward r4, r6, r10
	backward r5, r7, r10
	multiply r4, r4, r3
	multiply r5, r5, r3
	pop {r3}
	.endm

#include "../ml_kem_factors.inc"

	.section .text.ws_ml_kem_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_kem_ntt
	.type ws_ml_kem_ntt, %function
	.thumb_func
ws_ml_kem_ntt:
	begin ws_ml_kem_forward
	two_layers outer_first, 128, 0
	two_layers outer_first, 32, 0
	two_layers outer_first, 8, 0
	add r3, r0, #512
	.balign 4
1:	ldr.w r8, [r1], #4
	ldr.w r5, [r0, #4]
	ldr.w r4, [r0]
	forward r4, r5, r8
	str.w r5, [r0, #4]
	str.w r4, [r0], #8
	cmp r0, r3
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_ntt, . - ws_ml_kem_ntt

	.section .text.ws_ml_kem_inverse_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_kem_inverse_ntt
	.type ws_ml_kem_inverse_ntt, %function
	.thumb_func
ws_ml_kem_inverse_ntt:
	begin ws_ml_kem_backward
	movw r9, #:lower16:ONE
	movt r9, #:upper16:ONE
	add r3, r0, #512
	.balign 4
1:	ldr.w r8, [r1], #4
	ldr.w r5, [r0, #4]
	ldr.w r4, [r0]
	multiply r4, r4, r9
	multiply r5, r5, r9
	backward r4, r5, r8
	str.w r5, [r0, #4]
	str.w r4, [r0], #8
	cmp r0, r3
	bne 1b
	sub.w r0, r0, #512
	two_layers inner_first, 8, 0
	two_layers inner_first, 32, 1
	two_layers inner_first_scaled, 128, 0
	pop {r4-r11, pc}
	.size ws_ml_kem_inverse_ntt, . - ws_ml_kem_inverse_ntt

/* A sum of two products, in x, by Montgomery: its upper half. m: -1/q modulo 2^16. */
	.macro reduce x, m
	smulbb t0, \x, \m
	smlabb \x, t0, q, \x
	.endm

	.section .text.ws_ml_kem_accumulate, "ax", %progbits
	.balign 4
	.global ws_ml_kem_accumulate
	.type ws_ml_kem_accumulate, %function
	.thumb_func
/* in: r0 sum, r1 a, r2 b, r3 first, count on the stack. */
ws_ml_kem_accumulate:
	push {r4-r11, lr}
	ldr r4, [sp, #36]
	cmp r4, #0
	beq 2f
	add r10, r0, r4, lsl #3
	/* The factors of the last forward layer are in order behind 63 others. */
	movw r12, #:lower16:(ws_ml_kem_forward + 252)
	movt r12, #:upper16:(ws_ml_kem_forward + 252)
	add r3, r12, r3, lsl #2
	mov r9, r2
	movw q, #Q
	mov.w q8, #(8 * Q)
	movw r8, #3327
	.balign 4
1:	ldr.w r7, [r3], #4
	ldrd r5, r6, [r9], #8
	ldr.w r4, [r1], #4
	/* Modulo X^2 - zeta. */
	smulwt t1, r7, r5
	smlabb t1, t1, q, q8
	smuadx r11, r4, r5
	smulbb r5, r4, r5
	smlatt r5, r4, t1, r5
	smulbb r4, r11, r8
	smlabb r11, r4, q, r11
	smulbb r4, r5, r8
	smlabb r5, r4, q, r5
	ldr.w r4, [r0]
	pkhtb r11, r11, r5, asr #16
	uadd16 r4, r4, r11
	str.w r4, [r0], #4
	/* Modulo X^2 + zeta. */
	ldr.w r4, [r1], #4
	smulwt t1, r7, r6
	smlabb t1, t1, q, q8
	smuadx r11, r4, r6
	smulbb r6, r4, r6
	smultt t1, r4, t1
	sub.w r6, r6, t1
	smulbb r4, r11, r8
	smlabb r11, r4, q, r11
	smulbb r4, r6, r8
	smlabb r6, r4, q, r6
	ldr.w r4, [r0]
	pkhtb r11, r11, r6, asr #16
	uadd16 r4, r4, r11
	str.w r4, [r0], #4
	cmp r0, r10
	bne 1b
2:	pop {r4-r11, pc}
	.size ws_ml_kem_accumulate, . - ws_ml_kem_accumulate
