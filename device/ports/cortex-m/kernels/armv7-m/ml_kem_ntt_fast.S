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

/* z' of 1, and of 2^16 / 128: out of Montgomery's form of a product, and the scaling of algorithm 10. */
	.set ONE, 0x0013afb8
	.set SCALE, 0x275f6ed1

	.section .rodata.ws_ml_kem_ntt, "a", %progbits
	.balign 4
	.type ws_ml_kem_forward, %object
/* z' of the zetas of appendix A in the order of their use, algorithm 9. */
ws_ml_kem_forward:
	.word 0x84f5c5b6, 0xc666e465, 0xfcec8b58, 0xcb2b72d0, 0x51aaf2da, 0x93922fd5, 0x30726d5b, 0x0ed77946
	.word 0x3d4a0dff, 0x91e11612, 0xd63e49fb, 0xfab1a391, 0x41360f89, 0x2bc18ea7, 0x864470e4, 0x16c32c11
	.word 0x16395e0d, 0x19743224, 0xbc2c9a1c, 0xfa27d58e, 0x87094e0e, 0x66f8144e, 0x5c0c9c92, 0xb12d72a9
	.word 0x71811d74, 0xaf19ea51, 0x9e078945, 0xea3cc040, 0x31fc27af, 0x9807ff63, 0x044e701f, 0xc13fe765
	.word 0x3099ccc9, 0xac4184cf, 0xdc518394, 0x0289a6a5, 0x6681f601, 0x658209b1, 0x934370f8, 0x6da8cba2
	.word 0xb254be68, 0x6e59f915, 0xa1074e36, 0x3e0eeb29, 0x22c23fd4, 0x2924384b, 0x6e95083b, 0xdc8c92ba
	.word 0xdda02ec2, 0x75f6ed02, 0xb8b6b6df, 0xb805896c, 0xcb8de165, 0xc93f49e7, 0xdd651f9c, 0x71e38c09
	.word 0x31d4c840, 0x97ccf03d, 0xbe402274, 0xef28ae1a, 0x3f228731, 0x5e5b3410, 0x45fa9df4, 0x014eab2e
	.word 0xd4522112, 0x2cd52aae, 0xcbb540d4, 0x7de29fcd, 0x379942fb, 0xaff27732, 0x54970814, 0x6c5a2074
	.word 0xccb52d24, 0xfc4f0d9d, 0x11eaedee, 0x3a22e9a0, 0xa5cbdca1, 0xe7da790b, 0xea8b7f1e, 0x82f5ed16
	.word 0x7ef63bd5, 0xd6795921, 0x8992f4b3, 0x8e08c440, 0x4935720b, 0x7059d1b5, 0xcea1560e, 0x483585bb
	.word 0xb17c3187, 0xbb67bcf2, 0xb7a31ad7, 0x385e2025, 0xb3b7194d, 0x149bf401, 0x314afa3c, 0x79cf3ed4
	.word 0xb0b7545c, 0x9ca52e5f, 0xf79e2ee9, 0x1cd665aa, 0xc4049d2f, 0xa0b88f58, 0x7e801d88, 0x51bea292
	.word 0x1887f58b, 0xd53e5dab, 0x3a369957, 0xa169bccb, 0x2b2410ec, 0xbda2a4b9, 0xc77a806d, 0xd7a0a4e0
	.word 0x53f98a58, 0x1efd9db9, 0x4ee63d0f, 0x57e58be2, 0xa555be54, 0xd565bd19, 0x442224c3, 0x846bf7b2
	.word 0x5d33e851, 0x901c4c98, 0x4f214c36, 0xa24249ac, 0xe1b38fba, 0x440e750b, 0xa5a47d32
	.size ws_ml_kem_forward, . - ws_ml_kem_forward
	.section .rodata.ws_ml_kem_inverse_ntt, "a", %progbits
	.balign 4
	.type ws_ml_kem_backward, %object
/* And algorithm 10; the last one scaled. */
ws_ml_kem_backward:
	.word 0xa5a47d32, 0x440e750b, 0xe1b38fba, 0xa24249ac, 0x4f214c36, 0x901c4c98, 0x5d33e851, 0x846bf7b2
	.word 0x442224c3, 0xd565bd19, 0xa555be54, 0x57e58be2, 0x4ee63d0f, 0x1efd9db9, 0x53f98a58, 0xd7a0a4e0
	.word 0xc77a806d, 0xbda2a4b9, 0x2b2410ec, 0xa169bccb, 0x3a369957, 0xd53e5dab, 0x1887f58b, 0x51bea292
	.word 0x7e801d88, 0xa0b88f58, 0xc4049d2f, 0x1cd665aa, 0xf79e2ee9, 0x9ca52e5f, 0xb0b7545c, 0x79cf3ed4
	.word 0x314afa3c, 0x149bf401, 0xb3b7194d, 0x385e2025, 0xb7a31ad7, 0xbb67bcf2, 0xb17c3187, 0x483585bb
	.word 0xcea1560e, 0x7059d1b5, 0x4935720b, 0x8e08c440, 0x8992f4b3, 0xd6795921, 0x7ef63bd5, 0x82f5ed16
	.word 0xea8b7f1e, 0xe7da790b, 0xa5cbdca1, 0x3a22e9a0, 0x11eaedee, 0xfc4f0d9d, 0xccb52d24, 0x6c5a2074
	.word 0x54970814, 0xaff27732, 0x379942fb, 0x7de29fcd, 0xcbb540d4, 0x2cd52aae, 0xd4522112, 0x014eab2e
	.word 0x45fa9df4, 0x5e5b3410, 0x3f228731, 0xef28ae1a, 0xbe402274, 0x97ccf03d, 0x31d4c840, 0x71e38c09
	.word 0xdd651f9c, 0xc93f49e7, 0xcb8de165, 0xb805896c, 0xb8b6b6df, 0x75f6ed02, 0xdda02ec2, 0xdc8c92ba
	.word 0x6e95083b, 0x2924384b, 0x22c23fd4, 0x3e0eeb29, 0xa1074e36, 0x6e59f915, 0xb254be68, 0x6da8cba2
	.word 0x934370f8, 0x658209b1, 0x6681f601, 0x0289a6a5, 0xdc518394, 0xac4184cf, 0x3099ccc9, 0xc13fe765
	.word 0x044e701f, 0x9807ff63, 0x31fc27af, 0xea3cc040, 0x9e078945, 0xaf19ea51, 0x71811d74, 0xb12d72a9
	.word 0x5c0c9c92, 0x66f8144e, 0x87094e0e, 0xfa27d58e, 0xbc2c9a1c, 0x19743224, 0x16395e0d, 0x16c32c11
	.word 0x864470e4, 0x2bc18ea7, 0x41360f89, 0xfab1a391, 0xd63e49fb, 0x91e11612, 0x3d4a0dff, 0x0ed77946
	.word 0x30726d5b, 0x93922fd5, 0x51aaf2da, 0xcb2b72d0, 0xfcec8b58, 0xc666e465, 0xeb8b6b6e
	.size ws_ml_kem_backward, . - ws_ml_kem_backward

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
