@ Products and squares in the field of P-256 for Cortex-M4 and M7. p256_field_fast.S, with the rest of
@ p256_field.h, includes this file.
@
@ Constant time: UMULL and UMAAL take a cycle whatever they multiply on Cortex-M4 (ARM DDI 0439, table 3-1), and a
@ time that is always the same on M7 (LLVM's scheduling model, ARMScheduleM7.td).
@
@ p = 2^256 - 2^224 + 2^192 + 2^96 - 1. Montgomery's reduction adds multiples of p until
@ the low 256 bits are 0. Since p is -1 modulo 2^96, m(k), the multiple that clears column k (the
@ word of weight 2^(32 k)), is that word itself. What m(k) p adds elsewhere is m(k) in
@ the columns k + 3 and k + 6 and, as one product, m(k) (2^32 - 1) in the columns k + 7 and k + 8.

@ ------------------------------------------------------------------ product

	.set	FRAME, 48
	@ Of what lies on the stack: m(0) to m(7), before that the columns 4 to 6 and in the end 8 to 10.
	.set	M, 0
	@ Columns 8 to 11 of the first half.
	.set	HIGH, 32
	.set	RESULT, FRAME
	.set	OPERAND, FRAME + 4

@ What stands in the columns w0 to w3 and in c, which belongs to the first of them, plus the
@ product of lr and the four words in r3-r6; c becomes the column after w3. 4 cycles.
.macro	row w0, w1, w2, w3, c
	umaal	\w0, \c, r3, lr
	umaal	\w1, \c, r4, lr
	umaal	\w2, \c, r5, lr
	umaal	\w3, \c, r6, lr
.endm

@ void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a,
@                       const ws_p256_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 92 bytes. 219 cycles.
@ Rows of four words of a by one word of b, first the low half of a, then the high one. A row's
@ chain of carries starts with room for one word more; that takes nearly all of what the
@ reduction adds to columns below 8. The products by 2^32 - 1 stand as a fifth place in the rows:
@ m(i - 3) in row i, in column i + 4; r12 carries from one to the next. What is
@ missing then, m(2) to m(7) from column 8 and m(5) to m(7) from column 11 on, is added in two
@ chains by the flags, which UMAAL lets be. The second takes p off, too.
@
@ void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
@ In: r0 r, r1 a, aligned to 4. All else as above, in 220 cycles: the square is the product of a and a.
@ Of the 64 products of words 28 come twice; but to double their sum and to add the other 8 takes nearly as long
@ as these 28.
	.section .text.ws_p256_multiply, "ax", %progbits
	.balign	4
	.global	ws_p256_square
	.type	ws_p256_square, %function
	.thumb_func
ws_p256_square:
	mov.w	r2, r1
	.size	ws_p256_square, . - ws_p256_square

	.global	ws_p256_multiply
	.type	ws_p256_multiply, %function
	.thumb_func
ws_p256_multiply:
	push.w	{r0, r1, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	ldr.w	r3, [r1]
	ldr.w	r4, [r1, #4]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r1, #12]
	ldr.w	lr, [r2]
	mov.w	r1, #0xffffffff
	mov.w	r12, #0
	mov.w	r7, #0
	mov.w	r8, #0
	umull	r0, r9, r3, lr
	umaal	r12, r9, r4, lr
	umaal	r7, r9, r5, lr
	umaal	r8, r9, r6, lr
	str.w	r0, [sp, #M]
	ldr.w	lr, [r2, #4]
	mov.w	r10, #0
	row	r12, r7, r8, r9, r10
	str.w	r12, [sp, #M + 4]
	ldr.w	lr, [r2, #8]
	mov.w	r11, #0
	row	r7, r8, r9, r10, r11
	@ m(0) for column 3; m(1), in r12, for column 7.
	str.w	r7, [sp, #M + 8]
	ldr.w	lr, [r2, #12]
	mov.w	r7, r0
	row	r8, r9, r10, r11, r7
	umaal	r7, r12, r0, r1
	str.w	r8, [sp, #M + 12]
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [sp, #M + 4]
	mov.w	r8, r0
	row	r9, r10, r11, r7, r8
	umaal	r8, r12, r0, r1
	str.w	r9, [sp, #M + 16]
	ldr.w	lr, [r2, #20]
	ldr.w	r0, [sp, #M + 8]
	mov.w	r9, r0
	row	r10, r11, r7, r8, r9
	umaal	r9, r12, r0, r1
	str.w	r10, [sp, #M + 20]
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [sp, #M + 12]
	mov.w	r10, r0
	row	r11, r7, r8, r9, r10
	umaal	r10, r12, r0, r1
	str.w	r11, [sp, #M + 24]
	ldr.w	lr, [r2, #28]
	ldr.w	r0, [sp, #OPERAND]
	mov.w	r11, #0
	row	r7, r8, r9, r10, r11

	@ The same from column 4 on with the high half of a. Column 11 is in r11 and in r12.
	str.w	r8, [sp, #HIGH]
	str.w	r9, [sp, #HIGH + 4]
	str.w	r10, [sp, #HIGH + 8]
	str.w	r11, [sp, #HIGH + 12]
	ldr.w	r3, [r0, #16]
	ldr.w	r4, [r0, #20]
	ldr.w	r5, [r0, #24]
	ldr.w	r6, [r0, #28]
	ldr.w	lr, [r2]
	ldr.w	r8, [sp, #M + 16]
	ldr.w	r9, [sp, #M + 20]
	ldr.w	r10, [sp, #M + 24]
	mov.w	r11, #0
	row	r8, r9, r10, r7, r11
	str.w	r8, [sp, #M + 16]
	ldr.w	lr, [r2, #4]
	mov.w	r0, r8
	mov.w	r8, #0
	row	r9, r10, r7, r11, r8
	str.w	r9, [sp, #M + 20]
	ldr.w	lr, [r2, #8]
	ldr.w	r9, [sp, #M]
	row	r10, r7, r11, r8, r9
	str.w	r10, [sp, #M + 24]
	ldr.w	lr, [r2, #12]
	mov.w	r10, r0
	row	r7, r11, r8, r9, r10
	umaal	r10, r12, r0, r1
	str.w	r7, [sp, #M + 28]
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [sp, #M + 20]
	ldr.w	r7, [sp, #HIGH]
	row	r11, r8, r9, r10, r7
	umaal	r7, r12, r0, r1
	adds.w	r11, r11, r0
	str.w	r11, [sp, #M]
	ldr.w	lr, [r2, #20]
	ldr.w	r0, [sp, #M + 24]
	ldr.w	r11, [sp, #HIGH + 4]
	row	r8, r9, r10, r7, r11
	umaal	r11, r12, r0, r1
	adcs.w	r8, r8, r0
	str.w	r8, [sp, #M + 4]
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [sp, #M + 28]
	ldr.w	r8, [sp, #HIGH + 8]
	row	r9, r10, r7, r11, r8
	umaal	r8, r12, r0, r1
	adcs.w	r1, r9, r0
	ldr.w	lr, [r2, #28]
	ldr.w	r9, [sp, #HIGH + 12]
	row	r10, r7, r11, r8, r9

	@ Columns 10 to 15: r1, r10, r7, r11, r8, r9 and r12.
	ldr.w	r5, [sp, #M + 20]
	ldr.w	r6, [sp, #M + 24]
	ldr.w	r2, [sp, #M]
	ldr.w	r3, [sp, #M + 4]
	adcs.w	r10, r10, r5
	adcs.w	r7, r7, r6
	adcs.w	r11, r11, r0
	adcs.w	r8, r8, #0
	adcs.w	r9, r9, r12
	ldr.w	r4, [sp, #M + 8]
	ldr.w	r5, [sp, #M + 12]
	ldr.w	r6, [sp, #M + 16]
	ldr.w	r0, [sp, #RESULT]
	sbc.w	r12, r12, r12
	adds.w	r2, r2, r4
	adcs.w	r3, r3, r5
	adcs.w	r1, r1, r6
	sbcs.w	r10, r10, #0
	less_p_from_4	r7, r11, r8, r9
	adc.w	r12, r12, #0
	@ 2^256 - p is 1 more than what was added: that is in the carry now. The number is not p,
	@ for which this would come too late: it would be a multiple of p made of the product 0.
	cmp.w	r12, #0
	plus_p	adcs, r12, r2, r3, r1, r10, r7, r11, r8, r9
	store_element	r2, r3, r1, r10, r7, r11, r8, r9, r0
	add.w	sp, sp, #FRAME + 8
	pop.w	{r4-r11, pc}
	.size	ws_p256_multiply, . - ws_p256_multiply
