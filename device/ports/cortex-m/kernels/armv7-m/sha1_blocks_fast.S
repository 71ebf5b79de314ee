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
@ is the message's last one, at r12 + 60. r10, r11: scratch.
.macro	schedule first=0
	.if	\first
	ldr.w	r0, [r12, #60]
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

@ A round is e += w + (e ror 2) + k + f(b, c, d) + (a rol 5), with the constant k in lr and c, d
@ and e kept unrotated; b turns into such a c by the mere renaming from round to round.
@ `begin` adds all but f, which it leaves in t, and a. For the majority function it adds one
@ half of f, (b & c) of (b & c) + ((b ^ c) & d).
.macro	begin f, t, b, c, d, e, w
	.ifc	\f, choose
	eor.w	\t, \c, \d
	add.w	\e, \w, \e, ror #2
	add.w	\e, \e, lr
	and.w	\t, \b, \t, ror #2
	eor.w	\t, \t, \d, ror #2
	.endif
	.ifc	\f, parity
	eor.w	\t, \b, \c, ror #2
	add.w	\e, \w, \e, ror #2
	add.w	\e, \e, lr
	eor.w	\t, \t, \d, ror #2
	.endif
	.ifc	\f, majority
	and.w	r11, \b, \c, ror #2
	eor.w	r10, \b, \c, ror #2
	add.w	\e, \w, \e, ror #2
	add.w	\e, \e, lr
	and.w	r10, r10, \d, ror #2
	add.w	\e, \e, r11
	.endif
.endm

@ Ends the round of a, e, t and begins the next, of the others. Cortex-M7 shifts or rotates
@ once a cycle and finds something else to do beside it; hence the order.
.macro	end_and_begin f, a, e, t, t2, b2, c2, d2, e2, w2
	.ifc	\f, choose
	eor.w	\t2, \c2, \d2
	add.w	\e2, \w2, \e2, ror #2
	add.w	\e2, \e2, lr
	add.w	\e, \e, \a, ror #27
	add.w	\e, \e, \t
	and.w	\t2, \b2, \t2, ror #2
	eor.w	\t2, \t2, \d2, ror #2
	.endif
	.ifc	\f, parity
	add.w	\e, \e, \t
	eor.w	\t2, \b2, \c2, ror #2
	add.w	\e2, \w2, \e2, ror #2
	add.w	\e2, \e2, lr
	eor.w	\t2, \t2, \d2, ror #2
	add.w	\e, \e, \a, ror #27
	.endif
	.ifc	\f, majority
	add.w	\e, \e, r10
	and.w	r11, \b2, \c2, ror #2
	add.w	\e, \e, \a, ror #27
	eor.w	r10, \b2, \c2, ror #2
	add.w	\e2, \w2, \e2, ror #2
	add.w	\e2, \e2, lr
	and.w	r10, r10, \d2, ror #2
	add.w	\e2, \e2, r11
	.endif
.endm

@ Words in r0-r3, r9.
.macro	five_rounds f
	begin	\f, r10, r5, r6, r7, r8, r0
	end_and_begin \f, r4, r8, r10, r11, r4, r5, r6, r7, r1
	end_and_begin \f, r8, r7, r11, r10, r8, r4, r5, r6, r2
	end_and_begin \f, r7, r6, r10, r11, r7, r8, r4, r5, r3
	end_and_begin \f, r6, r5, r11, r10, r6, r7, r8, r4, r9
	add.w	r4, r4, r10
	add.w	r4, r4, r5, ror #27
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
@ Cycles on Cortex-M3 and M4 without wait states, call included: 1,224 a block and 135
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
	.set	at, 0
	.rept	3
	ldr.w	r0, [r12, #at]
	ldr.w	r1, [r12, #at + 4]
	ldr.w	r2, [r12, #at + 8]
	ldr.w	r3, [r12, #at + 12]
	ldr.w	r9, [r12, #at + 16]
	.set	at, at + 20
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
	.endr
	sub	sp, sp, #20
	schedule 15
	add.w	r12, r12, #64
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
