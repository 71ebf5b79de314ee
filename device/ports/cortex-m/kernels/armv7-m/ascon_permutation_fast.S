/*
 * Ascon-p for ARMv7-M (NIST SP 800-232 section 3), the fast variant (contract: ascon_permutation.h).
 *
 * in:  r0 state, r1 rounds.
 * Cycles on Cortex-M4 and M3 without wait states, from the call instruction to the return inclusive: 974 for twelve rounds.
 * Stack: 40 bytes. Flash: 626 bytes. Clobbers: r0-r3, r12.
 *
 * Constant flow: no branch and no address depends on the state. It stays in registers; they are the caller's to clear.
 *
 * The idea. The ten words stay in registers: lower halves in r0 to r4, where an EOR has two bytes, upper ones in r8 to r12. The S-box is
 * Keccak's chi between additions; its steps go in an order in which one register is enough beside the words (`chi`), and an ORN
 * for a BIC complements what the standard complements. A word's shifts are in the EORs of the linear layer, which needs two registers.
 *
 * A Cortex-M7 issues two instructions a cycle, but only one with a shift: between those stand the S-box's last additions of this
 * round and its first ones of the next, which the last round, written out once more, has not.
 */
	.syntax unified
	.thumb

/*
 * The middle of section 3.3 on a half of all words, word i + ~(word i+1) & (word i+2), given t = ~x1 & x2. Clobbers u.
 * A word's new value serves the word before it as the old one would: they differ where the AND with the word after it is zero.
 * So 2, 4, 1, 3, 0 are each made when nobody needs the old one, but for 0, whose AND is t. x2 and x3 come out complemented: S2 as it shall
 * be, and S3 when S2 is added.
 */
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

/* r = a ^ (high, low) >>> n, the half that begins in low: what low gives of it and what high gives of it. */
	.macro own r, a, low, n
	.if \n < 32
	eor \r, \a, \low, lsr #\n
	.else
	eor \r, \a, \low, lsl #(64 - \n)
	.endif
	.endm

	.macro other r, a, high, n
	.if \n < 32
	eor \r, \a, \high, lsl #(32 - \n)
	.else
	eor \r, \a, \high, lsr #(\n - 32)
	.endif
	.endm

/* Section 3.4 on a word, and up to six instructions between those with shifts. Clobbers r6, lr. */
	.macro diffuse low, high, a, b, i0, i1, i2, i3, i4, i5
	own lr, \low, \low, \a
	\i0
	own r6, \high, \high, \a
	\i1
	other lr, lr, \high, \a
	\i2
	other r6, r6, \low, \a
	\i3
	other lr, lr, \high, \b
	\i4
	other r6, r6, \low, \b
	\i5
	own \low, lr, \low, \b
	own \high, r6, \high, \b
	.endm

/* A round from behind the S-box's first additions to S0 and S2, the constant among them, to behind the next round's, if it is not the last.
   r7: the next round's constant. r5: ~S1 & S2 of the lower half. */
	.macro round last
	eors r4, r3
	eor r12, r12, r11
	chi r0, r1, r2, r3, r4, r5, r6
	bic r5, r10, r9
	chi r8, r9, r10, r11, r12, r5, r6
	diffuse r2, r10, 1, 6, "eors r3, r2", "eor r11, r11, r10", "eors r1, r0", "eor r9, r9, r8", "eors r0, r4", "eor r8, r8, r12"
	.if \last
	diffuse r1, r9, 61, 39
	diffuse r4, r12, 7, 41
	diffuse r0, r8, 19, 28
	diffuse r3, r11, 10, 17
	.else
	diffuse r1, r9, 61, 39, "subs r7, #15"
	diffuse r4, r12, 7, 41, "eors r2, r1", "eor r10, r10, r9", "eors r2, r7", "bic r5, r2, r1"
	diffuse r0, r8, 19, 28
	diffuse r3, r11, 10, 17, "eors r0, r4", "eor r8, r8, r12", "cmp r7, #0x4b"
	.endif
	.endm

	.section .text.ws_ascon_permute, "ax", %progbits
	.balign 16
	.global ws_ascon_permute
	.type ws_ascon_permute, %function
	.thumb_func
ws_ascon_permute:
	push {r0, r4-r11, lr}
/* Section 3.2: the first round's constant. */
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
	bic r5, r2, r1
	eors r0, r4
	eor r8, r8, r12
	cmp r7, #0x4b
	beq 2f
/* A line of the flash begins with the loop. */
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
