/*
 * Ascon-p for ARMv7-M (NIST SP 800-232 section 3), the fast variant (contract: ascon_permutation.h).
 *
 * in:  r0 state, r1 rounds.
 */
	.syntax unified
	.thumb

	.macro chi x0, x1, x2, x3, x4, t, u
	orn \u, \x3, \x4
	eors \x2, \u
	bic \u, \x1, \x0
	eors \x4, \u
	and \u, \x3, \x2
	eors \x1, \u
	orn \u, \x4, \x0
	eors \x3, \u
	eors \x0, \t
	.endm

	.macro diffuse low, high, a, b, i0, i1, i2, i3, i4, i5
	.if \a < 32
	eor lr, \low, \low, lsr #\a
	\i0
	eor r6, \high, \high, lsr #\a
	\i1
	eor lr, lr, \high, lsl #(32 - \a)
	\i2
	eor r6, r6, \low, lsl #(32 - \a)
	\i3
	.else
	eor lr, \low, \high, lsr #(\a - 32)
	\i0
	eor r6, \high, \low, lsr #(\a - 32)
	\i1
	eor lr, lr, \low, lsl #(64 - \a)
	\i2
	eor r6, r6, \high, lsl #(64 - \a)
	\i3
	.endif
	.if \b < 32
	eor lr, lr, \high, lsl #(32 - \b)
	\i4
	eor r6, r6, \low, lsl #(32 - \b)
	\i5
	eor \low, lr, \low, lsr #\b
	eor \high, r6, \high, lsr #\b
	.else
	eor lr, lr, \high, lsr #(\b - 32)
	\i4
	eor r6, r6, \low, lsr #(\b - 32)
	\i5
	eor \low, lr, \low, lsl #(64 - \b)
	eor \high, r6, \high, lsl #(64 - \b)
	.endif
	.endm

	.macro round last
	eors r4, r3
	eor r12, r12, r11
	chi r0, r1, r2, r3, r4, r5, r6
	bic r5, r10, r9
	chi r8, r9, r10, r11, r12, r5, r6
	diffuse r2, r10, 1, 6, "eors r3, r2", "eor r11, r11, r10", "eors r1, r0", "eor r9, r9, r8", "eors r0, r4", "eor r8, r8, r12"
	diffuse r1, r9, 61, 39, "subs r7, #15"
	.if \last
	diffuse r4, r12, 7, 41
	diffuse r0, r8, 19, 28
	diffuse r3, r11, 10, 17
	.else
	diffuse r4, r12, 7, 41, "eors r2, r1", "eor r10, r10, r9", "eors r2, r7", "bic r5, r2, r1"
	diffuse r0, r8, 19, 28
	diffuse r3, r11, 10, 17, "eors r0, r4", "eor r8, r8, r12", , , , "cmp r7, #0x4b"
	.endif
	.endm

	.section .text.ws_ascon_permute, "ax", %progbits
	.balign 16
	.global ws_ascon_permute
	.type ws_ascon_permute, %function
	.thumb_func
ws_ascon_permute:
	push {r0, r4-r11, lr}
	rsb r7, r1, r1, lsl #4
	adds r7, #0x3c
	ldr r1, [r0, #8]
	ldr.w r9, [r0, #12]
	ldr r2, [r0, #16]
	ldr.w r10, [r0, #20]
	ldr r3, [r0, #24]
	ldr.w r11, [r0, #28]
	ldr r4, [r0, #32]
	ldr.w r12, [r0, #36]
	ldr.w r8, [r0, #4]
	ldr r0, [r0]
	eors r2, r1
	eor r10, r10, r9
	eors r2, r7
	eors r0, r4
	eor r8, r8, r12
	bic r5, r2, r1
	cmp r7, #0x4b
	beq 2f
	.balign 16
1:	round 0
	bne 1b
2:	round 1
	ldr r7, [sp]
	str r0, [r7]
	str.w r8, [r7, #4]
	str r1, [r7, #8]
	str.w r9, [r7, #12]
	str r2, [r7, #16]
	str.w r10, [r7, #20]
	str r3, [r7, #24]
	str.w r11, [r7, #28]
	str r4, [r7, #32]
	str.w r12, [r7, #36]
	pop {r0, r4-r11, pc}
	.size ws_ascon_permute, . - ws_ascon_permute
