@ SHA-1's compression function for ARMv6-M (Cortex-M0): sha1.h's ws_sha1_blocks
@ (FIPS 180-4, 6.1.2).
@
@ Constant time: nothing depends on the data but the data; one branch depends on whether
@ `data` is 4-byte aligned, which costs nothing then.
@
@ Two passes over a message schedule of 80 words on the stack: one makes it, four words a
@ turn, since W[t - 14] is W[t - 16] of two rounds later; the other takes it off, a word a
@ round, by pop, which spares a pointer. The working variables are all in low registers
@ and take turns by name, five rounds a turn.

	.syntax unified
	.thumb

@ Copies the message block at r1 to r0, big-endian words to this processor's; moves r0 and
@ r1 by 64. Clobbers r2-r6.
.macro	copy_block
	lsls	r2, r1, #30
	bne	8f
	.rept	4
	ldmia	r1!, {r2-r5}
	rev	r2, r2
	rev	r3, r3
	rev	r4, r4
	rev	r5, r5
	stmia	r0!, {r2-r5}
	.endr
	b	9f
8:	movs	r6, #16
7:	ldrb	r2, [r1]
	.irp	n, 1, 2, 3
	lsls	r2, r2, #8
	ldrb	r3, [r1, #\n]
	orrs	r2, r3
	.endr
	adds	r1, #4
	stmia	r0!, {r2}
	subs	r6, #1
	bne	7b
9:
.endm

@ A round: r0 scratch, r1 = 27, r2 = 2, r8 the constant. 13, 12 or 15 cycles.
.macro	round f, a, b, c, d, e
	pop	{r0}
	adds	\e, \e, r0
	add	\e, r8
	mov	r0, \a
	rors	r0, r1
	adds	\e, \e, r0
	.ifc	\f, choose
	mov	r0, \c
	eors	r0, \d
	ands	r0, \b
	eors	r0, \d
	.endif
	.ifc	\f, parity
	mov	r0, \c
	eors	r0, \d
	eors	r0, \b
	.endif
	.ifc	\f, majority
	mov	r0, \b
	ands	r0, \c
	adds	\e, \e, r0
	mov	r0, \b
	eors	r0, \c
	ands	r0, \d
	.endif
	adds	\e, \e, r0
	rors	\b, r2
.endm

@ Twenty rounds of f with constant k.
.macro	twenty_rounds f, k
	ldr	r0, =\k
	mov	r8, r0
	mov	r0, sp
	adds	r0, #80
	mov	r9, r0
1:	round	\f, r3, r4, r5, r6, r7
	round	\f, r7, r3, r4, r5, r6
	round	\f, r6, r7, r3, r4, r5
	round	\f, r5, r6, r7, r3, r4
	round	\f, r4, r5, r6, r7, r3
	mov	r0, sp
	cmp	r0, r9
	bne	1b
.endm

@ void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
@ In: r0 state (4-byte aligned), r1 data (any alignment), r2 blocks. Out: none.
@ Clobbers r0-r3, flags. Stack: 360 bytes; the message schedule in there is
@ overwritten before the return.
@ Cycles without wait states, call included, data aligned: 2,053
@ a block and 143 besides.
	.section .text.ws_sha1_blocks, "ax", %progbits
	.balign	4
	.global	ws_sha1_blocks
	.type	ws_sha1_blocks, %function
	.thumb_func
ws_sha1_blocks:
	cmp	r2, #0
	bne	1f
	bx	lr
1:	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	push	{r4, r5}
	push	{r0, r1, r2}
.Lblock:
	ldr	r1, [sp, #4]
	sub	sp, #320
	mov	r0, sp
	copy_block
	str	r1, [sp, #324]
	mov	r6, sp
	movs	r0, #255
	adds	r0, #1
	adds	r0, r0, r6
	mov	r8, r0
	movs	r7, #31
	@ r6: the word 16 rounds before the first of the four, then 24 bytes beyond.
2:	ldmia	r6!, {r0-r5}
	eors	r0, r2
	eors	r1, r3
	eors	r2, r4
	eors	r3, r5
	ldr	r4, [r6, #8]
	eors	r0, r4
	ldr	r4, [r6, #12]
	eors	r1, r4
	ldr	r4, [r6, #16]
	eors	r2, r4
	ldr	r4, [r6, #20]
	eors	r3, r4
	ldr	r4, [r6, #28]
	eors	r0, r4
	ldr	r4, [r6, #32]
	eors	r1, r4
	ldr	r4, [r6, #36]
	eors	r2, r4
	rors	r0, r7
	rors	r1, r7
	rors	r2, r7
	eors	r3, r0
	rors	r3, r7
	str	r0, [r6, #40]
	str	r1, [r6, #44]
	str	r2, [r6, #48]
	str	r3, [r6, #52]
	subs	r6, #8
	cmp	r6, r8
	bne	2b

	ldr	r0, [sp, #320]
	ldmia	r0!, {r3-r7}
	movs	r1, #27
	movs	r2, #2
	twenty_rounds choose, 0x5a827999
	twenty_rounds parity, 0x6ed9eba1
	twenty_rounds majority, 0x8f1bbcdc
	twenty_rounds parity, 0xca62c1d6
	ldr	r0, [sp]
	.irp	x, r3, r4, r5, r6, r7
	ldr	r1, [r0]
	adds	r1, r1, \x
	stmia	r0!, {r1}
	.endr
	ldr	r0, [sp, #8]
	subs	r0, #1
	str	r0, [sp, #8]
	beq	3f
	b	.Lblock

3:	sub	sp, #320
	mov	r0, sp
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	.rept	20
	stmia	r0!, {r1-r4}
	.endr
	add	sp, #332
	pop	{r4, r5}
	mov	r8, r4
	mov	r9, r5
	pop	{r4-r7, pc}
	.balign	4
	.ltorg
	.size	ws_sha1_blocks, . - ws_sha1_blocks
