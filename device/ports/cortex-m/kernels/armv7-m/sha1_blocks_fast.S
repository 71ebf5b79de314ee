@ SHA-1's compression function for ARMv7-M (Cortex-M3, M4 and M7): sha1.h's
@ ws_sha1_blocks (FIPS 180-4, 6.1.2).
@
@ Constant time: nothing depends on the data but the data.
@
@ Five rounds a turn, so that the working variables return to their registers without
@ moves. The five words of a turn are made together, which takes three loads a word
@ instead of four, since W[t - 14] is W[t - 16] of two rounds later; each group of loads but
@ the first follows a store, which spares its first load's second cycle. The schedule grows
@ downwards on the stack, 20 bytes a turn: earlier words lie at fixed distances above sp.
@ The rotation of b by 30 is never carried out: c, d and e are kept unrotated and
@ rotated where they are used, as second operands, for nothing.

	.syntax unified
	.thumb

@ x = W[n], counted from the turn's first word; n is from -16 to 4.
.macro	load_word x, n
	ldr	\x, [sp, #20 * (4 - (\n + 20) / 5) + 4 * ((\n + 20) % 5)]
.endm

@ Makes the turn's words in r0-r3 and r9 and stores them. With `first` 15 the first word
@ is the message's last one, at r12. r10, r11: scratch.
.macro	schedule first=0
	.if	\first
	ldr.w	r0, [r12], #4
	.else
	load_word r0, -16
	.endif
	load_word r1, -15
	load_word r2, -14
	load_word r3, -13
	load_word r9, -12
	load_word r10, -11
	load_word r11, -10
	.if	\first
	rev	r0, r0
	.else
	eor.w	r0, r0, r2
	.endif
	eor.w	r1, r1, r3
	eor.w	r2, r2, r9
	eor.w	r3, r3, r10
	eor.w	r9, r9, r11
	.ifeq	\first
	load_word r10, -8
	load_word r11, -3
	eor.w	r0, r0, r10
	eor.w	r0, r0, r11
	ror.w	r0, r0, #31
	.endif
	str	r0, [sp]
	load_word r10, -7
	load_word r11, -2
	eor.w	r1, r1, r10
	eor.w	r1, r1, r11
	ror.w	r1, r1, #31
	str	r1, [sp, #4]
	load_word r10, -6
	load_word r11, -1
	eor.w	r2, r2, r10
	eor.w	r2, r2, r11
	ror.w	r2, r2, #31
	str	r2, [sp, #8]
	load_word r10, -5
	load_word r11, -4
	eor.w	r3, r3, r0
	eor.w	r9, r9, r1
	eor.w	r3, r3, r10
	eor.w	r9, r9, r11
	ror.w	r3, r3, #31
	ror.w	r9, r9, #31
	str	r3, [sp, #12]
	str.w	r9, [sp, #16]
.endm

@ A round with word w and constant lr. c, d and e are kept unrotated; b turns into such a
@ c by the mere renaming from round to round. r10, r11: scratch.
.macro	round f, a, b, c, d, e, w
	add.w	\e, \w, \e, ror #2
	.ifc	\f, choose
	eor.w	r10, \c, \d
	add.w	\e, \e, lr
	and.w	r10, \b, r10, ror #2
	add.w	\e, \e, \a, ror #27
	eor.w	r10, r10, \d, ror #2
	.endif
	.ifc	\f, parity
	eor.w	r10, \b, \c, ror #2
	add.w	\e, \e, lr
	eor.w	r10, r10, \d, ror #2
	add.w	\e, \e, \a, ror #27
	.endif
	.ifc	\f, majority
	eor.w	r10, \b, \c, ror #2
	and.w	r11, \b, \c, ror #2
	add.w	\e, \e, lr
	and.w	r10, r10, \d, ror #2
	add.w	\e, \e, \a, ror #27
	add.w	\e, \e, r11
	.endif
	add.w	\e, \e, r10
.endm

.macro	five_rounds f
	round	\f, r4, r5, r6, r7, r8, r0
	round	\f, r8, r4, r5, r6, r7, r1
	round	\f, r7, r8, r4, r5, r6, r2
	round	\f, r6, r7, r8, r4, r5, r3
	round	\f, r5, r6, r7, r8, r4, r9
.endm

@ Twenty rounds of f with constant k.
.macro	twenty_rounds f, k
	movw	lr, #\k & 0xffff
	movt	lr, #\k >> 16
	mov.w	r12, #4
	.balign	4
1:	sub	sp, sp, #20
	subs.w	r12, r12, #1
	schedule
	five_rounds \f
	bne.w	1b
.endm

@ void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
@ In: r0 state (4-byte aligned), r1 data (any alignment), r2 blocks. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 372 bytes; the message schedule in there is
@ overwritten before the return.
@ Cycles on Cortex-M3 and M4 without wait states, call included: 1,236 a block and 135
@ besides.
	.section .text.ws_sha1_blocks, "ax", %progbits
	.balign	4
	.global	ws_sha1_blocks
	.type	ws_sha1_blocks, %function
	.thumb_func
ws_sha1_blocks:
	cbnz	r2, 1f
	bx	lr
1:	push.w	{r0-r11, lr}
	mov	r12, r1
	ldmia.w	r0, {r4-r8}
.Lblock:
	ror.w	r6, r6, #30
	ror.w	r7, r7, #30
	ror.w	r8, r8, #30
	movw	lr, #0x7999
	movt	lr, #0x5a82
	mov.w	r11, #3
	.balign	4
1:	ldr.w	r0, [r12]
	ldr.w	r1, [r12, #4]
	ldr.w	r2, [r12, #8]
	ldr.w	r3, [r12, #12]
	ldr.w	r9, [r12, #16]
	add.w	r12, r12, #20
	sub	sp, sp, #20
	rev	r0, r0
	rev	r1, r1
	rev	r2, r2
	rev	r3, r3
	rev.w	r9, r9
	str	r0, [sp]
	str	r1, [sp, #4]
	str	r2, [sp, #8]
	str	r3, [sp, #12]
	str.w	r9, [sp, #16]
	five_rounds choose
	subs.w	r11, r11, #1
	bne.w	1b
	sub	sp, sp, #20
	schedule 15
	str.w	r12, [sp, #84]
	five_rounds choose
	twenty_rounds parity, 0x6ed9eba1
	twenty_rounds majority, 0x8f1bbcdc
	twenty_rounds parity, 0xca62c1d6

	ldr.w	r12, [sp, #320]
	ldr.w	lr, [sp, #328]
	ldr.w	r0, [r12]
	ldr.w	r1, [r12, #4]
	ldr.w	r2, [r12, #8]
	ldr.w	r3, [r12, #12]
	ldr.w	r9, [r12, #16]
	add	r4, r4, r0
	add	r5, r5, r1
	add.w	r6, r2, r6, ror #2
	add.w	r7, r3, r7, ror #2
	add.w	r8, r9, r8, ror #2
	stmia.w	r12, {r4-r8}
	ldr.w	r12, [sp, #324]
	subs.w	lr, lr, #1
	str.w	lr, [sp, #328]
	beq	2f
	add	sp, sp, #320
	b.w	.Lblock
2:	mov.w	r4, #0
	mov.w	r5, #0
	mov.w	r6, #0
	mov.w	r7, #0
	mov.w	r8, #0
	mov.w	r9, #0
	mov.w	r10, #0
	mov.w	r11, #0
	.rept	10
	stmia.w	sp!, {r4-r11}
	.endr
	add	sp, sp, #16
	pop.w	{r4-r11, pc}
	.size	ws_sha1_blocks, . - ws_sha1_blocks
