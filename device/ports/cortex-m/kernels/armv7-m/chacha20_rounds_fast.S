@ The 20 rounds of ChaCha20 for ARMv7-M (RFC 8439, section 2.3): chacha20_rounds.h's function, the
@ fast variant.
@
@ Cycles of a call without wait states: 939 on a Cortex-M4; stack 60 bytes; flash 424.
@
@ Constant time: no instruction, address or duration depends on the state. Copies of
@ it on the stack are wiped.
@
@ The idea. A rotation is put off to where the word is used, as the shifted operand of a sum: a
@ quarter round is eight instructions. Between quarter rounds b is ror(b, 25) of its register and d
@ is ror(d, 24). Words 0 to 11 are in registers, and of 12 to 15 two; each turn moves four out and
@ four in.

	.syntax unified
	.thumb

@ Two quarter rounds, whose instructions alternate for a processor that takes two at a time.
.macro	quarter_rounds a, b, c, d, e, f, g, h
	half_rounds \a, \b, \c, \d, \e, \f, \g, \h, 25, 24, 16
	half_rounds \a, \b, \c, \d, \e, \f, \g, \h, 20, 16, 24
.endm
.macro	half_rounds a, b, c, d, e, f, g, h, of_b, of_d, next
	add	\a, \a, \b, ror #\of_b
	add	\e, \e, \f, ror #\of_b
	eor	\d, \a, \d, ror #\of_d
	eor	\h, \e, \h, ror #\of_d
	add	\c, \c, \d, ror #\next
	add	\g, \g, \h, ror #\next
	eor	\b, \c, \b, ror #\of_b
	eor	\f, \g, \f, ror #\of_b
.endm

	.section .text.ws_chacha20_rounds, "ax", %progbits
	.balign	4
	.globl	ws_chacha20_rounds
	.type	ws_chacha20_rounds, %function
	.thumb_func
ws_chacha20_rounds:
	push	{r0, r4-r11, lr}
	sub	sp, #20
	@ Words 12 to 15 where they wait, and the turns left behind them.
	add	r12, r0, #48
	ldm	r12, {r1-r4}
	ror	r1, #8
	ror	r2, #8
	ror	r3, #8
	ror	r4, #8
	movs	r5, #10
	stm	sp, {r1-r5}
	ldm	r0, {r0-r11}
	ror	r4, #7
	ror	r5, #7
	ror	r6, #7
	ror	r7, #7
	ldrd	r12, lr, [sp]
1:	quarter_rounds r0, r4, r8, r12, r1, r5, r9, lr
	strd	r12, lr, [sp]
	ldrd	r12, lr, [sp, #8]
	quarter_rounds r2, r6, r10, r12, r3, r7, r11, lr
	quarter_rounds r0, r5, r10, lr, r3, r4, r9, r12
	strd	r12, lr, [sp, #8]
	ldr	r12, [sp, #16]
	subs	r12, #1
	str	r12, [sp, #16]
	ldrd	r12, lr, [sp]
	quarter_rounds r1, r6, r11, r12, r2, r7, r8, lr
	bne	1b
	ror	r4, #25
	ror	r5, #25
	ror	r6, #25
	ror	r7, #25
	ror	r12, #24
	ror	lr, #24
	str	r12, [sp]
	ldr	r12, [sp, #20]
	stm	r12!, {r0-r11}
	ldr	r0, [sp]
	ldrd	r2, r3, [sp, #8]
	ror	r2, #24
	ror	r3, #24
	mov	r1, lr
	stm	r12, {r0-r3}
	movs	r0, #0
	movs	r1, #0
	strd	r0, r1, [sp]
	strd	r0, r1, [sp, #8]
	add	sp, #24
	pop	{r4-r11, pc}
	.size	ws_chacha20_rounds, . - ws_chacha20_rounds
