@ Ascon-p for ARMv6-M (NIST SP 800-232 section 3), the fast variant (contract: ascon_permutation.h).
@
@ in:  r0 state, r1 rounds.
@ Cycles on Cortex-M0 without wait states, from the call instruction to the return inclusive: 92 and 148 for each round, 1868 for twelve.
@ Stack: 40 bytes. Flash: 384 bytes. Clobbers: r0-r3, r12.
@
@ Constant flow: no branch and no address depends on the state. Registers are the caller's to clear.
@
@ The idea. All ten words stay in registers: five halves in low ones, the others in r8 to r12, which change places once in a round. The S-box
@ is Keccak's chi between additions: two registers beside its five are enough, because each AND that is the last to need a word
@ takes its place. The shifts of the linear layer are copies as well.

	.syntax unified
	.thumb

@ Section 3.3 on a half of all words; S0 to S4 come out in y0, y1, x2, x3, x1.
	.macro	substitute x0, x1, x2, x3, x4, y0, y1
	eors	\x0, \x4
	eors	\x4, \x3
	eors	\x2, \x1
	movs	\y0, \x2
	bics	\y0, \x1
	eors	\y0, \x0
	movs	\y1, \x3
	bics	\y1, \x2
	eors	\y1, \x1
	bics	\x1, \x0
	bics	\x0, \x4
	eors	\x1, \x4
	bics	\x4, \x3
	eors	\x2, \x4
	eors	\x3, \x0
	eors	\y1, \y0
	eors	\y0, \x1
	eors	\x3, \x2
	mvns	\x2, \x2
	.endm

@ t = the parts of (low, high) turned right by a and by b that come to the lower half. Clobbers u.
	.macro	turned t, low, high, a, b, u
	.if	\a < 32
	lsrs	\t, \low, #\a
	lsls	\u, \high, #(32 - \a)
	.else
	lsrs	\t, \high, #(\a - 32)
	lsls	\u, \low, #(64 - \a)
	.endif
	eors	\t, \u
	.if	\b < 32
	lsrs	\u, \low, #\b
	eors	\t, \u
	lsls	\u, \high, #(32 - \b)
	.else
	lsrs	\u, \high, #(\b - 32)
	eors	\t, \u
	lsls	\u, \low, #(64 - \b)
	.endif
	eors	\t, \u
	.endm

@ Section 3.4 on the word (low, other); then other has its lower half, and high its upper one. Clobbers t, u.
	.macro	diffuse low, other, high, a, b, t, u
	mov	\high, \other
	turned	\t, \low, \high, \a, \b, \u
	eors	\t, \low
	mov	\other, \t
	turned	\t, \high, \low, \a, \b, \u
	eors	\high, \t
	.endm

	.section .text.ws_ascon_permute, "ax", %progbits
	.balign	4
	.global	ws_ascon_permute
	.type	ws_ascon_permute, %function
	.thumb_func
ws_ascon_permute:
	push	{r0, r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	movs	r7, r0
@ The first round's constant.
	lsls	r2, r1, #4
	subs	r2, r2, r1
	adds	r2, #0x3c
	mov	lr, r2
	ldmia	r7!, {r5, r6}
	mov	r8, r5
	movs	r0, r6
	ldmia	r7!, {r1-r6}
	mov	r9, r1
	mov	r10, r3
	mov	r11, r5
	movs	r1, r2
	movs	r2, r4
	movs	r3, r6
	ldmia	r7!, {r4, r5}
	mov	r12, r4
	movs	r4, r5

@ Upper halves in r0-r4, lower ones in r8-r12.
1:	substitute r0, r1, r2, r3, r4, r5, r6
	mov	r0, r8
	mov	r8, r5
	mov	r7, r9
	mov	r9, r6
	mov	r4, r10
	mov	r10, r2
	mov	r2, r11
	mov	r11, r3
	mov	r3, r12
	mov	r12, r1
	mov	r5, lr
	eors	r4, r5
	subs	r5, #15
	mov	lr, r5
	substitute r0, r7, r4, r2, r3, r5, r6
	diffuse	r5, r8, r0, 19, 28, r3, r1
	diffuse	r6, r9, r1, 61, 39, r3, r5
	diffuse	r2, r11, r3, 10, 17, r5, r6
	diffuse	r4, r10, r2, 1, 6, r5, r6
	diffuse	r7, r12, r4, 7, 41, r5, r6
	mov	r5, lr
	cmp	r5, #0x3c
	beq	2f
	b	1b

2:	ldr	r7, [sp, #16]
	mov	r5, r8
	stmia	r7!, {r5}
	mov	r5, r9
	mov	r6, r10
	stmia	r7!, {r0, r5}
	str	r1, [r7]
	str	r6, [r7, #4]
	str	r2, [r7, #8]
	mov	r5, r11
	mov	r6, r12
	str	r5, [r7, #12]
	str	r3, [r7, #16]
	str	r6, [r7, #20]
	str	r4, [r7, #24]
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r0, r4-r7, pc}
	.size	ws_ascon_permute, . - ws_ascon_permute
