@ GHASH for ARMv6-M (Cortex-M0): ghash.h's ws_ghash_blocks.
@
@ Constant time on a processor with the single-cycle multiplier (STM32F0): no branch, no
@ address and no instruction's duration depends on a secret. There is no table. Branches
@ depend on whether y, h and data are 4-byte aligned.
@
@ A carry-less product comes of integer multiplications whose carries cannot reach a
@ bit that counts: an operand of 16 bits is cut into three, each with every third bit of
@ it, and of each product every third bit is kept. At most six ones meet in a bit,
@ which take three. Karatsuba's identity three times over makes 27 such products
@ of one of 128 bits by 128.
@
@ A block is a number whose most significant bit is the coefficient of x^0 (SP 800-38D,
@ 6.3). The product of two reflected numbers is short of one bit, a factor of x; so H is
@ divided by x first.

	.syntax unified
	.thumb

@ The frame's three arrays of nine words: the operands made of y, which the low words of
@ the products replace; the high words of the products; the operands made of H.
	.set	HIGH, 36
	.set	OPERANDS, 72
	.set	SAVED_Y, 108
	.set	SAVED_DATA, 112
	.set	SAVED_BLOCKS, 116

@ w = the big-endian word at p + at; t: scratch.
.macro	load_word w, p, at, aligned, t
	.if	\aligned
	ldr	\w, [\p, #\at]
	rev	\w, \w
	.else
	ldrb	\w, [\p, #\at]
	.irp	n, 1, 2, 3
	lsls	\w, \w, #8
	ldrb	\t, [\p, #\at + \n]
	orrs	\w, \t
	.endr
	.endif
.endm

@ The number r7:r6:r5:r4 = the block at p; t: scratch.
.macro	load_block p, t
	lsls	\t, \p, #30
	bne	8f
	load_word r7, \p, 0, 1
	load_word r6, \p, 4, 1
	load_word r5, \p, 8, 1
	load_word r4, \p, 12, 1
	b	9f
8:	load_word r7, \p, 0, 0, \t
	load_word r6, \p, 4, 0, \t
	load_word r5, \p, 8, 0, \t
	load_word r4, \p, 12, 0, \t
9:
.endm

@ Stores at r0 the nine operands of Karatsuba's identity for the number r7:r6:r5:r4.
@ Clobbers r0-r2, r4-r6.
.macro	store_operands
	stmia	r0!, {r4-r7}
	mov	r1, r4
	eors	r1, r5
	mov	r2, r6
	eors	r2, r7
	eors	r4, r6
	eors	r5, r7
	mov	r6, r1
	eors	r6, r2
	stmia	r0!, {r1, r2, r4-r6}
.endm

@ r0 = the carry-less product of r0 and r3, 16 bits each. r10, r11, r12: every third
@ bit from bit 0, 1, 2. Clobbers r1-r8. 42 cycles.
.macro	carryless_16
	mov	r1, r11
	mov	r4, r1
	ands	r1, r0
	ands	r4, r3
	mov	r2, r12
	mov	r5, r2
	ands	r2, r0
	ands	r5, r3
	mov	r6, r10
	ands	r0, r6
	ands	r3, r6
	mov	r6, r0
	muls	r6, r3
	mov	r7, r1
	muls	r7, r5
	eors	r6, r7
	mov	r7, r2
	muls	r7, r4
	eors	r6, r7
	mov	r8, r6
	mov	r6, r0
	muls	r6, r4
	mov	r7, r1
	muls	r7, r3
	eors	r6, r7
	mov	r7, r2
	muls	r7, r5
	eors	r6, r7
	muls	r0, r5
	muls	r1, r4
	muls	r2, r3
	eors	r0, r1
	eors	r0, r2
	mov	r1, r12
	ands	r0, r1
	mov	r1, r11
	ands	r6, r1
	orrs	r0, r6
	mov	r1, r10
	mov	r2, r8
	ands	r2, r1
	orrs	r0, r2
.endm

@ Of the nine words at sp + `from`, the seven words of the 128-bit product that they make:
@ r0, r4, r2, r6, r1, r5, r3 from the lowest. Clobbers r7.
.macro	combine from
	.if	\from
	add	r7, sp, #\from
	.else
	mov	r7, sp
	.endif
	ldmia	r7!, {r0-r6}
	eors	r4, r0
	eors	r4, r1
	eors	r5, r2
	eors	r5, r3
	eors	r1, r2
	mov	r2, r1
	eors	r2, r0
	eors	r2, r6
	eors	r1, r3
	eors	r6, r4
	eors	r6, r5
	ldr	r7, [sp, #\from + 28]
	eors	r1, r7
	eors	r6, r7
	ldr	r7, [sp, #\from + 32]
	eors	r6, r7
.endm

@ Adds the n-th of the high halves' seven words, as `combine` and stmia leave them.
.macro	add_high c, n
	ldr	r7, [sp, #HIGH + 4 * \n]
	eors	\c, r7
.endm

@ Adds c·x^128 = c·(1 + x + x^2 + x^7), c 32 bits of a reflected number: high to the word
@ four up, low to the word three up. Clobbers r7.
.macro	fold c, high, low
	eors	\high, \c
	lsrs	r7, \c, #1
	eors	\high, r7
	lsrs	r7, \c, #2
	eors	\high, r7
	lsrs	r7, \c, #7
	eors	\high, r7
	lsls	r7, \c, #31
	eors	\low, r7
	lsls	r7, \c, #30
	eors	\low, r7
	lsls	r7, \c, #25
	eors	\low, r7
.endm

@ void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data,
@                      size_t blocks)
@ In: r0 y, r1 h, r2 data (none need be aligned), r3 blocks. Out: none; y is updated.
@ Clobbers r0-r3, r12, flags. Stack: 156 bytes: the operands of y and of H, overwritten
@ before the return, the arguments and the caller's registers.
@ Cycles without wait states, call included, all aligned: 1,766
@ a block and 179 besides.
	.section .text.ws_ghash_blocks, "ax", %progbits
	.balign	4
	.global	ws_ghash_blocks
	.type	ws_ghash_blocks, %function
	.thumb_func
ws_ghash_blocks:
	cmp	r3, #0
	bne	1f
	bx	lr
1:	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	push	{r0, r2, r3}
	sub	sp, #SAVED_Y
	load_block r1, r3
	@ H / x: x^-1 = 1 + x + x^6 + x^127 takes the place of the bit shifted out.
	movs	r1, #0
	adds	r4, r4, r4
	adcs	r5, r5
	adcs	r6, r6
	adcs	r7, r7
	adcs	r1, r1
	eors	r4, r1
	movs	r2, #0xc2
	lsls	r2, r2, #24
	muls	r1, r2
	eors	r7, r1
	add	r0, sp, #OPERANDS
	store_operands
	ldr	r0, =0x49249249
	mov	r10, r0
	lsls	r1, r0, #1
	mov	r11, r1
	lsls	r1, r0, #2
	mov	r12, r1
	ldr	r0, [sp, #SAVED_Y]
	load_block r0, r3

.Lblock:
	mov	r0, r4
	mov	r1, r5
	mov	r8, r6
	mov	r9, r7
	ldr	r3, [sp, #SAVED_DATA]
	load_block r3, r2
	eors	r4, r0
	eors	r5, r1
	mov	r0, r8
	eors	r6, r0
	mov	r0, r9
	eors	r7, r0
	adds	r3, #16
	str	r3, [sp, #SAVED_DATA]
	mov	r0, sp
	store_operands
	mov	r7, sp
	mov	r9, r7

	@ r9: the operand. Low halves, high halves, sums: the product of 32 bits by 32.
2:	ldr	r0, [r7]
	ldr	r3, [r7, #OPERANDS]
	uxth	r0, r0
	uxth	r3, r3
	carryless_16
	mov	r7, r9
	str	r0, [r7, #HIGH]
	ldr	r0, [r7]
	ldr	r3, [r7, #OPERANDS]
	lsrs	r0, r0, #16
	lsrs	r3, r3, #16
	carryless_16
	mov	lr, r0
	mov	r7, r9
	ldr	r0, [r7]
	ldr	r3, [r7, #OPERANDS]
	lsrs	r1, r0, #16
	eors	r0, r1
	lsrs	r1, r3, #16
	eors	r3, r1
	uxth	r0, r0
	uxth	r3, r3
	carryless_16
	mov	r7, r9
	ldr	r1, [r7, #HIGH]
	mov	r2, lr
	eors	r0, r1
	eors	r0, r2
	lsls	r3, r0, #16
	eors	r1, r3
	lsrs	r0, r0, #16
	eors	r2, r0
	str	r2, [r7, #HIGH]
	stmia	r7!, {r1}
	mov	r9, r7
	add	r0, sp, #HIGH
	cmp	r7, r0
	beq	3f
	b	2b

3:	combine HIGH
	add	r7, sp, #HIGH
	stmia	r7!, {r0-r6}
	combine 0
	add_high r4, 0
	add_high r2, 4
	add_high r6, 2
	add_high r1, 6
	add_high r5, 1
	add_high r3, 5
	fold	r0, r1, r6
	ldr	r0, [sp, #HIGH + 12]
	fold	r4, r5, r1
	fold	r2, r3, r5
	fold	r6, r0, r3
	mov	r4, r1
	mov	r6, r3
	mov	r7, r0
	ldr	r0, [sp, #SAVED_BLOCKS]
	subs	r0, #1
	str	r0, [sp, #SAVED_BLOCKS]
	beq	4f
	b	.Lblock

4:	ldr	r0, [sp, #SAVED_Y]
	rev	r4, r4
	rev	r5, r5
	rev	r6, r6
	rev	r7, r7
	lsls	r1, r0, #30
	bne	5f
	str	r7, [r0]
	str	r6, [r0, #4]
	str	r5, [r0, #8]
	str	r4, [r0, #12]
	b	6f
5:	.irp	n, 0, 1, 2, 3
	strb	r7, [r0, #\n]
	strb	r6, [r0, #4 + \n]
	strb	r5, [r0, #8 + \n]
	strb	r4, [r0, #12 + \n]
	lsrs	r7, r7, #8
	lsrs	r6, r6, #8
	lsrs	r5, r5, #8
	lsrs	r4, r4, #8
	.endr
6:	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	movs	r5, #0
	movs	r6, #0
	mov	r0, sp
	.rept	4
	stmia	r0!, {r1-r6}
	.endr
	stmia	r0!, {r1-r3}
	adds	r0, #12
	mov	sp, r0
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.balign	4
	.ltorg
	.size	ws_ghash_blocks, . - ws_ghash_blocks
