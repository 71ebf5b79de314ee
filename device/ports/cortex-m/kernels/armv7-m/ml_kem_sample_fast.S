/*
 * Rejection sampling of ML-KEM for ARMv7-M (FIPS 203 algorithm 7; contract: ml_kem_polynomial.h), the fast variant.
 *
 * in:  r0 coefficients, r1 bytes.
 * out: r0 how many were below q.
 * Cycles on Cortex-M4 without wait states, from the call instruction to the return inclusive: 80 at most.
 * Stack: 16 bytes. Flash: 240 bytes. Clobbers: r1 to r3, r12.
 *
 * No branch depends on the numbers, which are public: each is stored where the next one that is below q shall be, if it is below q.
 */
	.syntax unified
	.thumb

	.macro take
	cmp r4, r5
	it lo
	strhlo r4, [r0], #2
	.endm

/* Of three words eight numbers of 12 bits. */
	.macro eight at
	ldr.w r2, [r1, #\at]
	ldr.w r3, [r1, #\at+4]
	ldr.w r12, [r1, #\at+8]
	ubfx r4, r2, #0, #12
	take
	ubfx r4, r2, #12, #12
	take
	lsrs r4, r2, #24
	bfi r4, r3, #8, #4
	take
	ubfx r4, r3, #4, #12
	take
	ubfx r4, r3, #16, #12
	take
	lsrs r4, r3, #28
	bfi r4, r12, #4, #8
	take
	ubfx r4, r12, #8, #12
	take
	lsr.w r4, r12, #20
	take
	.endm

	.section .text.ws_ml_kem_sample, "ax", %progbits
	.balign 4
	.global ws_ml_kem_sample
	.type ws_ml_kem_sample, %function
	.thumb_func
ws_ml_kem_sample:
	push {r4-r6, lr}
	movw r5, #3329
	mov r6, r0
	eight 0
	eight 12
	subs r0, r0, r6
	lsrs r0, r0, #1
	pop {r4-r6, pc}
	.size ws_ml_kem_sample, . - ws_ml_kem_sample
