@ GHASH for ARMv7-M (Cortex-M3, M4 and M7): ghash.h's ws_ghash_blocks.
@
@ Constant time: no branch, no address and no instruction's duration depends on a
@ secret. There is no table. Of the multiplications only those of 32 bits by 32 to 32
@ are used; UMULL takes 3 to 5 cycles by its operands on Cortex-M3 (ARM DDI 0337,
@ instruction timing) and is left out for that.
@
@ A carry-less product comes of integer multiplications whose carries cannot reach a
@ bit that counts: an operand is cut into four, each with every fourth bit of it, and
@ of each product every fourth bit is kept. In the low 32 bits of the product of two such
@ operands, at most seven ones meet in a bit other than the topmost of its class, whose
@ carries fall off at bit 32; so two products may even be added (14 ones, four bits)
@ before an exclusive or and the mask. The high half of a carry-less product is the
@ low half of the product of the operands with their bits reversed, reversed and shifted
@ by one. Karatsuba's identity twice over makes nine such pairs of a product
@ of 128 bits by 128.
@
@ A block is a number whose most significant bit is the coefficient of x^0 (SP 800-38D,
@ 6.3). The product of two reflected numbers is short of one bit, a factor of x; so H is
@ divided by x first.

	.syntax unified
	.thumb

@ The operands made of H lie so far behind those of y: an odd number of words, so that
@ Cortex-M7 reads two at once.
	.set	OPERANDS, 76
	.set	FRAME, 148
	.set	SAVED_Y, FRAME
	.set	SAVED_DATA, FRAME + 4
	.set	SAVED_BLOCKS, FRAME + 8

@ Stores at r0 the nine operands of Karatsuba's identity for the number r7:r6:r5:r4, then
@ the same with the bits of each word reversed. Moves r0 by 72. Clobbers r4-r12.
.macro	store_operands
	eor.w	r8, r4, r5
	eor.w	r9, r6, r7
	eor.w	r10, r4, r6
	eor.w	r11, r5, r7
	eor.w	r12, r8, r9
	stmia.w	r0!, {r4-r12}
	rbit	r4, r4
	rbit	r5, r5
	rbit	r6, r6
	eor.w	r8, r4, r5
	rbit	r7, r7
	eor.w	r10, r4, r6
	eor.w	r9, r6, r7
	eor.w	r11, r5, r7
	eor.w	r12, r8, r9
	stmia.w	r0!, {r4-r12}
.endm

@ The low word of the carry-less product of the operand at r0 + at, which it replaces, and
@ the one OPERANDS bytes further. Of each class of bits the products come in two sums of two:
@ (a0·b0 + a1·b1) + (a2·b2 + a3·b3), the middle sum an exclusive or. Clobbers r2-r12, lr.
@ 38 cycles on Cortex-M4, 46 on M3. Cortex-M7 multiplies every cycle and finishes the class
@ before beside it; hence the order.
.macro	carryless_low at
	ldr.w	r2, [r0, #\at]
	ldr.w	r6, [r0, #\at + OPERANDS]
	and.w	r3, r2, #0x22222222
	and.w	r9, r6, #0x88888888
	and.w	r4, r2, #0x44444444
	and.w	r8, r6, #0x44444444
	mul	r10, r3, r9
	and.w	r5, r2, #0x88888888
	mul	r11, r4, r8
	and.w	r7, r6, #0x22222222
	and.w	r2, r2, #0x11111111
	and.w	r6, r6, #0x11111111
	mla	r11, r5, r7, r11
	mla	r10, r2, r6, r10
	mul	lr, r4, r9
	eor.w	r12, r10, r11
	mul	r11, r3, r6
	and.w	r12, r12, #0x11111111
	mla	lr, r2, r7, lr
	mla	r11, r5, r8, r11
	mul	r10, r5, r9
	eor.w	lr, lr, r11
	mul	r11, r3, r7
	and.w	lr, lr, #0x22222222
	mla	r10, r2, r8, r10
	orr.w	r12, r12, lr
	mla	r11, r4, r6, r11
	mul	lr, r2, r9
	eor.w	r10, r10, r11
	mul	r11, r4, r7
	and.w	r10, r10, #0x44444444
	mla	lr, r3, r8, lr
	orr.w	r12, r12, r10
	mla	r11, r5, r6, r11
	eor.w	lr, lr, r11
	and.w	lr, lr, #0x88888888
	orr.w	r12, r12, lr
	str.w	r12, [r0, #\at]
.endm

@ Adds c·x^128 = c·(1 + x + x^2 + x^7), c 32 bits of a reflected number: high to the word
@ four up, low to the word three up; to_high and to_low take the sums.
.macro	fold c, high, low, to_high, to_low
	eor.w	\high, \high, \c
	eor.w	\high, \high, \c, lsr #1
	eor.w	\high, \high, \c, lsr #2
	eor.w	\low, \low, \c, lsl #31
	eor.w	\low, \low, \c, lsl #30
	eor.w	\to_high, \high, \c, lsr #7
	eor.w	\to_low, \low, \c, lsl #25
.endm

@ void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data,
@                      size_t blocks)
@ In: r0 y, r1 h, r2 data (none need be aligned), r3 blocks. Out: none; y is updated.
@ Clobbers r0-r3, r12, flags. Stack: 196 bytes: the operands of y and of H, overwritten
@ before the return, the arguments and the caller's registers.
@ Cycles without wait states, call included: 863 a block and 156 besides on Cortex-M4,
@ 1,007 a block and 156 besides on Cortex-M3, whose MLA takes two.
	.section .text.ws_ghash_blocks, "ax", %progbits
	.balign	4
	.global	ws_ghash_blocks
	.type	ws_ghash_blocks, %function
	.thumb_func
ws_ghash_blocks:
	cbnz	r3, 1f
	bx	lr
1:	push.w	{r0, r2-r11, lr}
	sub	sp, sp, #FRAME
	ldr.w	r4, [r1, #12]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r1, #4]
	ldr.w	r7, [r1]
	rev	r4, r4
	rev	r5, r5
	rev	r6, r6
	rev	r7, r7
	@ H / x: x^-1 = 1 + x + x^6 + x^127 takes the place of the bit shifted out.
	adds	r4, r4, r4
	adcs	r5, r5
	adcs	r6, r6
	adcs	r7, r7
	mov	r8, #0
	adc	r8, r8, #0
	rsb	r9, r8, #0
	and	r9, r9, #0xc2000000
	eor.w	r4, r4, r8
	eor.w	r7, r7, r9
	add	r0, sp, #OPERANDS
	store_operands
	ldr.w	r0, [sp, #SAVED_Y]
	nop
	ldr.w	r4, [r0, #12]
	ldr.w	r5, [r0, #8]
	ldr.w	r6, [r0, #4]
	ldr.w	r7, [r0]
	rev	r4, r4
	rev	r5, r5
	rev	r6, r6
	rev	r7, r7

.Lblock:
	ldr.w	r1, [sp, #SAVED_DATA]
	ldr.w	r8, [r1, #12]
	ldr.w	r9, [r1, #8]
	ldr.w	r10, [r1, #4]
	ldr.w	r11, [r1]
	add.w	r1, r1, #16
	str.w	r1, [sp, #SAVED_DATA]
	rev.w	r8, r8
	rev.w	r9, r9
	eor.w	r4, r4, r8
	rev.w	r10, r10
	eor.w	r5, r5, r9
	rev.w	r11, r11
	eor.w	r6, r6, r10
	eor.w	r7, r7, r11
	mov	r0, sp
	store_operands
	mov	r0, sp
	movs	r1, #6
	.balign	4
2:	carryless_low 0
	carryless_low 4
	carryless_low 8
	add.w	r0, r0, #12
	subs.w	r1, r1, #1
	bne.w	2b

	@ Words 0 to 6 of the sum of the low halves: r0, r4, r2, r8, r1, r5, r3.
	ldmia.w	sp, {r0-r8}
	eors	r4, r0
	eors	r4, r1
	eors	r5, r2
	eors	r5, r3
	eor.w	r8, r8, r6
	eor.w	r8, r8, r7
	eor.w	r8, r8, r4
	eor.w	r8, r8, r5
	eors	r1, r2
	eor.w	r2, r1, r0
	eors	r2, r6
	eors	r1, r3
	eors	r1, r7
	@ Of the high halves, reversed: r6, r11, r9, lr, r7, r12, r10, which belong one word
	@ further up; of these, r9, lr and r7 still lack their products.
	ldr.w	r6, [sp, #36]
	ldr.w	r7, [sp, #40]
	ldr.w	r9, [sp, #44]
	ldr.w	r10, [sp, #48]
	ldr.w	r11, [sp, #52]
	ldr.w	r12, [sp, #56]
	eor.w	r11, r11, r6
	eor.w	r12, r12, r9
	eor.w	r11, r11, r7
	eor.w	r7, r7, r9
	eor.w	r12, r12, r10
	eor.w	r9, r7, r6
	rbit	r6, r6
	eor.w	lr, r11, r12
	rbit	r11, r11
	eor.w	r7, r7, r10
	rbit	r12, r12
	rbit	r10, r10
	eor.w	r4, r4, r6, lsr #1
	eor.w	r2, r2, r11, lsr #1
	eor.w	r3, r3, r12, lsr #1
	lsr.w	r10, r10, #1
	ldr.w	r6, [sp, #60]
	ldr.w	r11, [sp, #64]
	ldr.w	r12, [sp, #68]
	eor.w	r9, r9, r6
	eor.w	r7, r7, r11
	eor.w	lr, lr, r12
	eor.w	lr, lr, r6
	eor.w	lr, lr, r11
	rbit	r9, r9
	rbit	r7, r7
	rbit	lr, lr
	eor.w	r8, r8, r9, lsr #1
	eor.w	r5, r5, r7, lsr #1
	eor.w	r1, r1, lr, lsr #1
	fold	r0, r1, r8, r1, r8
	fold	r4, r5, r1, r5, r4
	fold	r2, r3, r5, r3, r5
	fold	r8, r10, r3, r7, r6
	ldr.w	r0, [sp, #SAVED_BLOCKS]
	subs	r0, r0, #1
	str.w	r0, [sp, #SAVED_BLOCKS]
	bne.w	.Lblock

	ldr.w	r0, [sp, #SAVED_Y]
	rev	r4, r4
	rev	r5, r5
	rev	r6, r6
	rev	r7, r7
	str.w	r7, [r0]
	str.w	r6, [r0, #4]
	str.w	r5, [r0, #8]
	str.w	r4, [r0, #12]
	mov.w	r4, #0
	mov.w	r5, #0
	mov.w	r6, #0
	mov.w	r7, #0
	mov.w	r8, #0
	mov.w	r9, #0
	mov.w	r10, #0
	mov.w	r11, #0
	mov.w	r12, #0
	.rept	4
	stmia.w	sp!, {r4-r12}
	.endr
	str.w	r4, [sp], #4
	add	sp, sp, #12
	pop.w	{r4-r11, pc}
	.size	ws_ghash_blocks, . - ws_ghash_blocks
