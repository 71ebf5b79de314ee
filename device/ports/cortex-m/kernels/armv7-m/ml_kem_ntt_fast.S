/*
 * The number-theoretic transform of ML-KEM for ARMv7E-M (FIPS 203 section 4.3; contracts:
 * ml_kem_polynomial.h), the fast variant, with the DSP instructions. Cortex-M3 has none and takes
 * the C file.
 *
 * Cycles on Cortex-M4 without wait states, from the call instruction to the return inclusive:
 * ws_ml_kem_ntt 4410, ws_ml_kem_inverse_ntt 4912, ws_ml_kem_accumulate 36 and 42 for each four
 * coefficients. Stack: 48 bytes at most. Flash: 4872 bytes and 1080 of constants. Clobbers: r0 to
 * r3, r12. Polynomials are 4-byte aligned.
 *
 * Constant flow: no branch and no address depends on a coefficient. Registers are the caller's to
 * clear.
 *
 * The idea. Two coefficients are a word. A factor z is multiplied as Plantard does (2021; with
 * signed numbers: Huang et al., "Improved Plantard arithmetic for lattice-based cryptography",
 * TCHES 2022): with z' = -2^32 z modulo q times 1/q modulo 2^32, the product is (8 + the upper
 * half of z' a modulo 2^32) q / 2^16, between -q/2 and q/2, two instructions.
 *
 * Four layers are done two at a time on four words, whose factors stay in registers; the three
 * with the shortest distances on eight words that lie beside each other. Those and what is there
 * anyway take all registers: a factor is loaded where a word comes or has gone. A store right
 * behind a load takes no cycle, and a load right behind a store one more.
 *
 * Bounds of coefficients. Forward: q, and q/2 more in each of the seven layers. Backward sums
 * double: 9/2 q once, to 9 q. Of these sums and of the differences the products are scaled at
 * once, which algorithm 10 does at its end. From q/2 on the sums of sums reach 8 q in four layers,
 * below 2^15. Of each eight words the first four, whose sums grow fastest, are reduced in the fifth
 * layer, so that none is above 8 q after the seventh.
 */
	.syntax unified
	.thumb

#define Q 3329

/* What all functions have in registers: q; 8 q. Scratch of products. */
#define q lr
#define q8 r2
#define t0 r11
#define t1 r12

/* d = a z. d may be a, and each of them and z t0. */
	.macro multiply d, a, z
	smulwt t1, \z, \a
	smulwb t0, \z, \a
	smlabb t0, t0, q, q8
	smlabb t1, t1, q, q8
	pkhtb \d, t1, t0, asr #16
	.endm

/* (a, b) to (a + z b, a - z b). z may be t0, and b; `to`: where the difference goes. */
	.macro forward a, b, z, to
	multiply t0, \b, \z
	.ifb \to
	usub16 \b, \a, t0
	.else
	usub16 \to, \a, t0
	.endif
	uadd16 \a, \a, t0
	.endm

/* (a, b) to (a + b, z (b - a)). */
	.macro backward a, b, z
	usub16 t0, \b, \a
	uadd16 \a, \a, \b
	multiply \b, t0, \z
	.endm

/* The same with z at [r1, #at]. */
	.macro backward_loaded a, b, at
	usub16 t0, \b, \a
	uadd16 \a, \a, \b
	ldr.w \b, [r1, #\at]
	multiply \b, t0, \b
	.endm

	.macro begin table
	push {r4-r11, lr}
	movw r1, #:lower16:\table
	movt r1, #:upper16:\table
	movw q, #Q
	mov.w q8, #(8 * Q)
	.endm

/* Two layers on the words `at` and the next three `distance` bytes apart from r0 on. The last
 * word, in r6, is left to the next four, behind whose loads it takes no cycle: where `before` is
 * given, one is left from there. */
	.macro down distance, at, before
	ldr.w r5, [r0, #(\distance + \at)]
	ldr.w r7, [r0, #(3 * \distance + \at)]
	left_store \distance, \before
	forward r5, r7, r8
	ldr.w r4, [r0, #\at]
	ldr.w r6, [r0, #(2 * \distance + \at)]
	forward r4, r6, r8
	forward r4, r5, r9
	str.w r4, [r0, #\at]
	str.w r5, [r0, #(\distance + \at)]
	multiply t0, r7, r10
	usub16 r7, r6, t0
	str.w r7, [r0, #(3 * \distance + \at)]
	uadd16 r6, r6, t0
	.endm

	.macro up distance, at, before
	ldr.w r4, [r0, #\at]
	ldr.w r5, [r0, #(\distance + \at)]
	left_store \distance, \before
	backward r4, r5, r8
	ldr.w r6, [r0, #(2 * \distance + \at)]
	ldr.w r7, [r0, #(3 * \distance + \at)]
	backward r6, r7, r9
	backward r5, r7, r10
	str.w r5, [r0, #(\distance + \at)]
	str.w r7, [r0, #(3 * \distance + \at)]
	uadd16 t0, r4, r6
	usub16 r6, r6, r4
	.if reduces
	multiply r4, t0, r3
	str.w r4, [r0, #\at]
	.else
	str.w t0, [r0, #\at]
	.endif
	multiply r6, r6, r10
	.endm

	.macro left_store distance, before
	.ifnb \before
	str.w r6, [r0, #(2 * \distance + \before)]
	.endif
	.endm

/* Two layers of a whole polynomial with the longest distances, four turns at a time. Clobbers
 * r3. */
	.macro outer_layers layers
	ldm r1!, {r8-r10}
	add.w r3, r0, #128
	.balign 4
1:	\layers 128, 0
	\layers 128, 4, 0
	\layers 128, 8, 4
	\layers 128, 12, 8
	left_store 128, 12
	add r0, #16
	cmp r0, r3
	bne.w 1b
	sub.w r0, r0, #128
	.endm

/* Two layers of four blocks of 128 bytes. `reduced`: whether first sums are, the first four of
 * each block, with r3. The end's address is at [sp, #4]. */
	.macro inner_layers layers, reduced
	.balign 4
1:	ldm.w r1!, {r8-r10}
	.set reduces, \reduced
	\layers 32, 0
	\layers 32, 4, 0
	\layers 32, 8, 4
	\layers 32, 12, 8
	.set reduces, 0
	\layers 32, 16, 12
	\layers 32, 20, 16
	\layers 32, 24, 20
	\layers 32, 28, 24
	ldr.w r4, [sp, #4]
	left_store 32, 28
	add r0, #128
	cmp r0, r4
	bne.w 1b
	sub.w r0, r0, #512
	.endm

#include "../ml_kem_factors.inc"

/* The zetas of appendix A. Each of the 16 blocks of the last three layers has four words in both
 * of two parts of 256 bytes, of which the second has the last layer's in order; then come those
 * of the layers before. */
	.section .rodata.ws_ml_kem_ntt, "a", %progbits
	.balign 256
	.type ws_ml_kem_forward, %object
ws_ml_kem_forward:
	.irp k, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	factors_down \k
	.word 0
	.endr
	.set LAST_LAYER, . - ws_ml_kem_forward
	.set k, 64
	.rept 64
	factor k
	.set k, k + 1
	.endr
	.set FIRST_LAYERS, . - ws_ml_kem_forward
	.irp k, 1, 4, 5, 6, 7
	factors_down \k
	.endr
	.set ALL_LAYERS, . - ws_ml_kem_forward
	.size ws_ml_kem_forward, . - ws_ml_kem_forward

/* And algorithm 10: a block's first three layers one after the other, of which the first is
 * scaled. */
	.section .rodata.ws_ml_kem_inverse_ntt, "a", %progbits
	.balign 4
	.type ws_ml_kem_backward, %object
ws_ml_kem_backward:
	.irp k, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16
	.irp j, 3, 2, 1, 0
	factor 4 * \k + \j, 512
	.endr
	factors_up \k
	.endr
	.irp k, 7, 6, 5, 4
	factors_up \k
	.endr
	factors_up 1
	.size ws_ml_kem_backward, . - ws_ml_kem_backward

	.section .text.ws_ml_kem_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_kem_ntt
	.type ws_ml_kem_ntt, %function
	.thumb_func
ws_ml_kem_ntt:
	begin (ws_ml_kem_forward + FIRST_LAYERS)
	outer_layers down
	add r3, r0, #512
	push {r0, r3}
	inner_layers down, 0
	sub.w r1, r1, #ALL_LAYERS
	.balign 4
/* Three layers on r3 to r10. Where r10 comes last its factor is in its place. The first part of
 * the table ends at a multiple of 256. */
1:	ldr.w r10, [r1], #16
	ldr.w r3, [r0]
	ldr.w r4, [r0, #4]
	ldr.w r5, [r0, #8]
	ldr.w r6, [r0, #12]
	ldr.w r7, [r0, #16]
	ldr.w r8, [r0, #20]
	ldr.w r9, [r0, #24]
	forward r3, r7, r10
	forward r4, r8, r10
	forward r5, r9, r10
	ldr.w t0, [r0, #28]
	smulwt t1, r10, t0
	smulwb t0, r10, t0
	smlabb t0, t0, q, q8
	smlabb t1, t1, q, q8
	pkhtb t0, t1, t0, asr #16
	usub16 r10, r6, t0
	uadd16 r6, r6, t0
	ldr.w t0, [r1, #-12]
	forward r3, r5, t0
	ldr.w t0, [r1, #-12]
	forward r4, r6, t0
	ldr.w t0, [r1, #240]
	forward r3, r4, t0
	ldr.w t0, [r1, #244]
	str.w r4, [r0, #4]
	str.w r3, [r0], #32
	forward r5, r6, t0
	ldr.w r3, [r1, #-8]
	ldr.w r4, [r1, #248]
	str.w r5, [r0, #-24]
	str.w r6, [r0, #-20]
	forward r7, r9, r3
	forward r8, r10, r3
	forward r7, r8, r4
	ldr.w r3, [r1, #252]
	str.w r7, [r0, #-16]
	str.w r8, [r0, #-12]
	forward r9, r10, r3
	str.w r9, [r0, #-8]
	str.w r10, [r0, #-4]
	tst r1, #255
	bne.w 1b
	pop {r0, r3}
	pop {r4-r11, pc}
	.size ws_ml_kem_ntt, . - ws_ml_kem_ntt

	.section .text.ws_ml_kem_inverse_ntt, "ax", %progbits
	.balign 4
	.global ws_ml_kem_inverse_ntt
	.type ws_ml_kem_inverse_ntt, %function
	.thumb_func
ws_ml_kem_inverse_ntt:
	begin ws_ml_kem_backward
	movw r3, #:lower16:SCALE
	movt r3, #:upper16:SCALE
	add.w r4, r0, #512
	push {r3, r4}
	.balign 4
/* Three layers on r3 to r10: the first half of them through two, with factors in the place of
 * the second. */
1:	ldr.w r7, [r1]
	ldr.w r8, [r1, #4]
	ldr.w r10, [r1, #16]
	ldr.w r9, [sp]
	ldr.w r3, [r0]
	ldr.w r4, [r0, #4]
	ldr.w r5, [r0, #8]
	ldr.w r6, [r0, #12]
	backward r3, r4, r7
	multiply r3, r3, r9
	backward r5, r6, r8
	multiply r5, r5, r9
	backward r3, r5, r10
	backward r4, r6, r10
	ldr.w r10, [r1, #8]
	ldr.w r7, [r0, #16]
	ldr.w r8, [r0, #20]
	backward r7, r8, r10
	multiply r7, r7, r9
	ldr.w t1, [r0, #24]
	ldr.w r10, [r0, #28]
	uadd16 t0, t1, r10
	usub16 r10, r10, t1
	multiply r9, t0, r9
	ldr.w t0, [r1, #12]
	multiply r10, r10, t0
	backward_loaded r7, r9, 20
	backward_loaded r8, r10, 20
	backward_loaded r3, r7, 24
	str.w r3, [r0]
	str.w r7, [r0, #16]
	usub16 t0, r8, r4
	uadd16 r4, r4, r8
	ldr.w r3, [r1, #24]
	multiply r8, t0, r3
	str.w r4, [r0, #4]
	str.w r8, [r0, #20]
	backward r5, r9, r3
	str.w r5, [r0, #8]
	str.w r9, [r0, #24]
	backward r6, r10, r3
	ldr.w r4, [sp, #4]
	str.w r6, [r0, #12]
	str.w r10, [r0, #28]
	add.w r0, r0, #32
	add.w r1, r1, #28
	cmp r0, r4
	bne.w 1b
	sub.w r0, r0, #512
	movw r3, #:lower16:ONE
	movt r3, #:upper16:ONE
	inner_layers up, 1
	outer_layers up
	pop {r2, r3}
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
	/* The factors of the last forward layer are in order. */
	movw r12, #:lower16:(ws_ml_kem_forward + LAST_LAYER)
	movt r12, #:upper16:(ws_ml_kem_forward + LAST_LAYER)
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
