@ Products and squares in the field of P-256 for Cortex-M3. p256_field_fast.S, with the rest of
@ p256_field.h, includes this file.
@
@ Constant time: UMULL and UMLAL take a time that depends on what they multiply (ARM DDI 0337, table of
@ instruction timings) and are left out; MUL, 32 bits by 32 to 32, takes one cycle.
@
@ So products are made of halfwords. Products of every second halfword of a number by one halfword
@ lie side by side: they are added in one chain, a MUL and an ADCS each. Two such sums, one at
@ whole words and one 16 bits further up, make a product of 64 bits by 64. Above that, twice
@ over, Karatsuba's identity, with the differences as magnitude and sign:
@ (l + h x) (l' + h' x) = l l' + (l l' + h h' + (l - h) (h' - l')) x + h h' x^2.
@ With t + c x = (l l' div x) + (h h' mod x), t below x, and g = (h h' div x) + c, this is
@ (l l' mod x) + (t + (l l' mod x)) x + (t + g) x^2 + g x^3, and the product of the differences times x.

	@ What lies on the stack: the product of the low halves,
	.set	LOW, 0
	@ of the differences of the halves, and these,
	.set	MIDDLE, 32
	.set	A_DIFFERENCE, 64
	.set	B_DIFFERENCE, 80
	@ the sign of that product: all ones if it is negative.
	.set	SIGN, 96
	@ For a product of 128 bits: where its operands are, its products, their sign.
	.set	A_HALF, 100
	.set	B_HALF, 104
	.set	HALF_LOW, 108
	.set	HALF_MIDDLE, 124
	.set	HALF_SIGN, 140
	@ The arguments.
	.set	OPERAND_A, 144
	.set	OPERAND_B, 148
	.set	FRAME, 152
	.set	RESULT, FRAME
	@ In the end: columns 12 to 15, where the differences were.
	.set	COLUMNS, A_DIFFERENCE

@ ------------------------------------------------------------------ 64 bits

@ r3, r12, r9, r10 = the number of the halfwords r3, r4, r5, r6, times that of r7, r8, r9, r10.
@ Clobbers r0-r11, flags. 37 cycles. The carry of the sum 16 bits up is shifted into r11
@ from above.
.macro	multiply_64
	mul	r1, r5, r8
	mul	r12, r6, r7
	mul	r2, r5, r10
	adds.w	r1, r1, r12
	adc.w	r2, r2, #0
	mul	r12, r3, r10
	mul	r0, r3, r8
	adds.w	r1, r1, r12
	adc.w	r2, r2, #0
	mul	r12, r4, r7
	mul	r11, r4, r9
	adds.w	r0, r0, r12
	adcs.w	r1, r1, r11
	mul	r12, r6, r9
	adcs.w	r2, r2, r12
	rrx.w	r11, r2

	mul	r12, r3, r9
	mul	r3, r3, r7
	mul	r7, r5, r7
	mul	r9, r5, r9
	mul	r5, r4, r10
	mul	r10, r6, r10
	adds.w	r12, r12, r7
	adcs.w	r9, r9, r5
	adc.w	r10, r10, #0
	mul	r4, r4, r8
	mul	r6, r6, r8
	adds.w	r12, r12, r4
	adcs.w	r9, r9, r6
	adc.w	r10, r10, #0

	adds.w	r3, r3, r0, lsl #16
	adcs.w	r12, r12, r1, lsl #16
	adcs.w	r9, r9, r2, lsl #16
	adc.w	r10, r10, #0
	adds.w	r12, r12, r0, lsr #16
	adcs.w	r9, r9, r1, lsr #16
	adc.w	r10, r10, r11, lsr #15
.endm

@ r3, r12, r9, r10 = the square of the number of the halfwords r3, r4, r5, r6. Clobbers r0-r2,
@ r4-r8, flags. 25 cycles. The sum 16 bits up is doubled by being added 17 bits up.
.macro	square_64
	mul	r1, r3, r6
	mul	r12, r4, r5
	mul	r2, r5, r6
	mul	r0, r3, r4
	adds.w	r1, r1, r12
	adc.w	r2, r2, #0
	mul	r7, r3, r5
	mul	r8, r4, r6
	mul	r3, r3, r3
	mul	r12, r4, r4
	mul	r9, r5, r5
	mul	r10, r6, r6
	.rept	2
	adds.w	r12, r12, r7
	adcs.w	r9, r9, r8
	adc.w	r10, r10, #0
	.endr
	adds.w	r3, r3, r0, lsl #17
	adcs.w	r12, r12, r1, lsl #17
	adcs.w	r9, r9, r2, lsl #17
	adc.w	r10, r10, #0
	adds.w	r12, r12, r0, lsr #15
	adcs.w	r9, r9, r1, lsr #15
	adc.w	r10, r10, r2, lsr #15
.endm

@ h1:h0, of the words w0 and w1, becomes the magnitude of x1:x0 - y1:y0, and `sign` all ones if that is
@ negative. h0 may be x0 or y0, h1 x1 or y1. 7 cycles.
.macro	difference_64 h0, h1, x0, x1, y0, y1, sign
	subs.w	\h0, \x0, \y0
	sbcs.w	\h1, \x1, \y1
	sbc.w	\sign, \sign, \sign
	eor.w	\h0, \h0, \sign
	eor.w	\h1, \h1, \sign
	subs.w	\h0, \h0, \sign
	sbc.w	\h1, \h1, \sign
.endm

@ The halfwords of the words w0 and w1, in w0, h1, w1, h3.
.macro	halve w0, h1, w1, h3
	lsr.w	\h1, \w0, #16
	uxth.w	\w0, \w0
	lsr.w	\h3, \w1, #16
	uxth.w	\w1, \w1
.endm

.macro	load_halfwords h0, h1, h2, h3, from, at
	ldrh.w	\h0, [\from, #\at]
	ldrh.w	\h1, [\from, #\at + 2]
	ldrh.w	\h2, [\from, #\at + 4]
	ldrh.w	\h3, [\from, #\at + 6]
.endm

.macro	store_half_product at
	str.w	r3, [sp, #\at]
	str.w	r12, [sp, #\at + 4]
	str.w	r9, [sp, #\at + 8]
	str.w	r10, [sp, #\at + 12]
.endm

@ Joins the product of the high halves in r3, r12, r9, r10 and those on the stack to the words r4,
@ r5, r3, r12, r6, r7, r9, r10. Clobbers r0-r2, r8, r11, flags. 31 cycles.
.macro	join_halves
	ldr.w	r4, [sp, #HALF_LOW]
	ldr.w	r5, [sp, #HALF_LOW + 4]
	ldr.w	r6, [sp, #HALF_LOW + 8]
	ldr.w	r7, [sp, #HALF_LOW + 12]
	ldr.w	r0, [sp, #HALF_MIDDLE]
	ldr.w	r1, [sp, #HALF_MIDDLE + 4]
	ldr.w	r2, [sp, #HALF_MIDDLE + 8]
	ldr.w	r11, [sp, #HALF_MIDDLE + 12]
	ldr.w	r8, [sp, #HALF_SIGN]
	adds.w	r6, r6, r3
	adcs.w	r7, r7, r12
	adcs.w	r9, r9, #0
	adc.w	r10, r10, #0
	adds.w	r3, r6, r4
	adcs.w	r12, r7, r5
	adcs.w	r6, r6, r9
	adcs.w	r7, r7, r10
	adcs.w	r9, r9, #0
	adc.w	r10, r10, #0
	eor.w	r0, r0, r8
	eor.w	r1, r1, r8
	eor.w	r2, r2, r8
	eor.w	r11, r11, r8
	cmn.w	r8, r8
	adcs.w	r3, r3, r0
	adcs.w	r12, r12, r1
	adcs.w	r6, r6, r2
	adcs.w	r7, r7, r11
	adcs.w	r9, r9, r8
	adc.w	r10, r10, r8
.endm

@ ------------------------------------------------------------------ 128 bits

@ In: r0 and r1 two numbers of four words; the frame above at sp. Out: r4, r5, r3, r12, r6, r7, r9,
@ r10 their product. Clobbers r0-r2, r8, r11, flags.
	.section .text.ws_p256_multiply, "ax", %progbits
	.balign	4
	.type	multiply_128, %function
	.thumb_func
multiply_128:
	str.w	r0, [sp, #A_HALF]
	str.w	r1, [sp, #B_HALF]
	ldr.w	r3, [r0]
	ldr.w	r5, [r0, #4]
	ldr.w	r4, [r0, #8]
	ldr.w	r6, [r0, #12]
	ldr.w	r7, [r1]
	ldr.w	r9, [r1, #4]
	ldr.w	r8, [r1, #8]
	ldr.w	r10, [r1, #12]
	difference_64	r3, r5, r3, r5, r4, r6, r11
	difference_64	r7, r9, r8, r10, r7, r9, r12
	eor.w	r11, r11, r12
	str.w	r11, [sp, #HALF_SIGN]
	halve	r3, r4, r5, r6
	halve	r7, r8, r9, r10
	multiply_64
	store_half_product	HALF_MIDDLE
	ldr.w	r0, [sp, #A_HALF]
	ldr.w	r1, [sp, #B_HALF]
	load_halfwords	r3, r4, r5, r6, r0, 0
	load_halfwords	r7, r8, r9, r10, r1, 0
	multiply_64
	store_half_product	HALF_LOW
	ldr.w	r0, [sp, #A_HALF]
	ldr.w	r1, [sp, #B_HALF]
	load_halfwords	r3, r4, r5, r6, r0, 8
	load_halfwords	r7, r8, r9, r10, r1, 8
	multiply_64
	join_halves
	bx	lr
	.size	multiply_128, . - multiply_128

@ ------------------------------------------------------------------ product

@ The magnitude of x - y, four words each at `from` and 16 bytes further, to `to` on the stack; `sign` is all
@ ones if the difference is negative. With `swap` 16 it is y - x. Clobbers r4-r11, flags. 26 cycles.
.macro	difference_128 from, swap, to, sign
	ldr.w	r4, [\from, #\swap]
	ldr.w	r5, [\from, #\swap + 4]
	ldr.w	r6, [\from, #\swap + 8]
	ldr.w	r7, [\from, #\swap + 12]
	ldr.w	r8, [\from, #16 - \swap]
	ldr.w	r9, [\from, #20 - \swap]
	ldr.w	r10, [\from, #24 - \swap]
	ldr.w	r11, [\from, #28 - \swap]
	subs.w	r4, r4, r8
	sbcs.w	r5, r5, r9
	sbcs.w	r6, r6, r10
	sbcs.w	r7, r7, r11
	sbc.w	\sign, \sign, \sign
	eor.w	r4, r4, \sign
	eor.w	r5, r5, \sign
	eor.w	r6, r6, \sign
	eor.w	r7, r7, \sign
	subs.w	r4, r4, \sign
	sbcs.w	r5, r5, \sign
	sbcs.w	r6, r6, \sign
	sbc.w	r7, r7, \sign
	str.w	r4, [sp, #\to]
	str.w	r5, [sp, #\to + 4]
	str.w	r6, [sp, #\to + 8]
	str.w	r7, [sp, #\to + 12]
.endm

@ void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a,
@                       const ws_p256_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 192 bytes. 880 cycles.
	.balign	4
	.global	ws_p256_multiply
	.type	ws_p256_multiply, %function
	.thumb_func
ws_p256_multiply:
	push.w	{r0, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	str.w	r1, [sp, #OPERAND_A]
	str.w	r2, [sp, #OPERAND_B]
	difference_128	r1, 0, A_DIFFERENCE, r3
	difference_128	r2, 16, B_DIFFERENCE, r12
	eor.w	r3, r3, r12
	str.w	r3, [sp, #SIGN]
	add.w	r0, sp, #A_DIFFERENCE
	add.w	r1, sp, #B_DIFFERENCE
	bl	multiply_128
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, sp, MIDDLE
	ldr.w	r0, [sp, #OPERAND_A]
	ldr.w	r1, [sp, #OPERAND_B]
	bl	multiply_128
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, sp, LOW
	ldr.w	r0, [sp, #OPERAND_A]
	ldr.w	r1, [sp, #OPERAND_B]
	add.w	r0, r0, #16
	add.w	r1, r1, #16
	bl	multiply_128

	@ Joins the product of the high halves, in registers, with the others: columns 4 to 7 in r0,
	@ r1, r2, r8, columns 8 to 11 in r4, r5, r3, r12; 12 to 15 stay for later.
.Ljoin:
	ldr.w	r0, [sp, #LOW + 16]
	ldr.w	r1, [sp, #LOW + 20]
	ldr.w	r2, [sp, #LOW + 24]
	ldr.w	r8, [sp, #LOW + 28]
	adds.w	r4, r4, r0
	adcs.w	r5, r5, r1
	adcs.w	r3, r3, r2
	adcs.w	r12, r12, r8
	adcs.w	r6, r6, #0
	adcs.w	r7, r7, #0
	adcs.w	r9, r9, #0
	adc.w	r10, r10, #0
	ldr.w	r0, [sp, #LOW]
	ldr.w	r1, [sp, #LOW + 4]
	ldr.w	r2, [sp, #LOW + 8]
	ldr.w	r8, [sp, #LOW + 12]
	ldr.w	lr, [sp, #SIGN]
	adds.w	r0, r0, r4
	adcs.w	r1, r1, r5
	adcs.w	r2, r2, r3
	adcs.w	r8, r8, r12
	adcs.w	r4, r4, r6
	adcs.w	r5, r5, r7
	adcs.w	r3, r3, r9
	adcs.w	r12, r12, r10
	adcs.w	r6, r6, #0
	adcs.w	r7, r7, #0
	adcs.w	r9, r9, #0
	adc.w	r10, r10, #0
	str.w	r6, [sp, #COLUMNS]
	str.w	r7, [sp, #COLUMNS + 4]
	str.w	r9, [sp, #COLUMNS + 8]
	str.w	r10, [sp, #COLUMNS + 12]
	ldr.w	r6, [sp, #MIDDLE]
	ldr.w	r7, [sp, #MIDDLE + 4]
	ldr.w	r9, [sp, #MIDDLE + 8]
	ldr.w	r10, [sp, #MIDDLE + 12]
	eor.w	r6, r6, lr
	eor.w	r7, r7, lr
	eor.w	r9, r9, lr
	eor.w	r10, r10, lr
	cmn.w	lr, lr
	adcs.w	r0, r0, r6
	adcs.w	r1, r1, r7
	adcs.w	r2, r2, r9
	adcs.w	r8, r8, r10
	ldr.w	r6, [sp, #MIDDLE + 16]
	ldr.w	r7, [sp, #MIDDLE + 20]
	ldr.w	r9, [sp, #MIDDLE + 24]
	ldr.w	r10, [sp, #MIDDLE + 28]
	eor.w	r6, r6, lr
	eor.w	r7, r7, lr
	eor.w	r9, r9, lr
	eor.w	r10, r10, lr
	adcs.w	r4, r4, r6
	adcs.w	r5, r5, r7
	adcs.w	r3, r3, r9
	adcs.w	r12, r12, r10
	adc.w	lr, lr, #0

	@ Reduction. m(0) to m(3) are the words 0 to 3, to the last of which m(0) has come. What
	@ goes into column 12, from -2 to 3, is in lr.
	ldr.w	r6, [sp, #LOW]
	ldr.w	r7, [sp, #LOW + 4]
	ldr.w	r9, [sp, #LOW + 8]
	ldr.w	r10, [sp, #LOW + 12]
	adds.w	r10, r10, r6
	adcs.w	r0, r0, r7
	adcs.w	r1, r1, r9
	adcs.w	r2, r2, r10
	adcs.w	r8, r8, r7
	adcs.w	r4, r4, r9
	adcs.w	r5, r5, r10
	adcs.w	r3, r3, r9
	adcs.w	r12, r12, r10
	adc.w	lr, lr, #0
	adds.w	r2, r2, r6
	adcs.w	r8, r8, #0
	adcs.w	r4, r4, r6
	adcs.w	r5, r5, r7
	adcs.w	r3, r3, #0
	adcs.w	r12, r12, #0
	adc.w	lr, lr, #0
	subs.w	r8, r8, r6
	sbcs.w	r4, r4, r7
	sbcs.w	r5, r5, r9
	sbcs.w	r3, r3, r10
	sbcs.w	r12, r12, #0
	sbc.w	lr, lr, #0

	@ The same for the words 4 to 7, m(4) to m(7).
	ldr.w	r6, [sp, #COLUMNS]
	ldr.w	r7, [sp, #COLUMNS + 4]
	ldr.w	r9, [sp, #COLUMNS + 8]
	ldr.w	r10, [sp, #COLUMNS + 12]
	adds.w	r6, r6, lr
	asr.w	lr, lr, #31
	adcs.w	r7, r7, lr
	adcs.w	r9, r9, lr
	adcs.w	r10, r10, lr
	adc.w	lr, lr, #0
	adds.w	r8, r8, r0
	adcs.w	r4, r4, r1
	adcs.w	r5, r5, r2
	adcs.w	r3, r3, r8
	adcs.w	r12, r12, r1
	adcs.w	r6, r6, r2
	adcs.w	r7, r7, r8
	adcs.w	r9, r9, r2
	adcs.w	r10, r10, r8
	adc.w	lr, lr, #0
	adds.w	r3, r3, r0
	adcs.w	r12, r12, #0
	adcs.w	r6, r6, r0
	adcs.w	r7, r7, r1
	adcs.w	r9, r9, #0
	adcs.w	r10, r10, #0
	adc.w	lr, lr, #0
	subs.w	r12, r12, r0
	sbcs.w	r6, r6, r1
	sbcs.w	r7, r7, r2
	sbcs.w	r9, r9, r8
	sbcs.w	r10, r10, #0
	sbc.w	lr, lr, #0
	subs.w	r12, r12, #1
	less_p_from_4	r6, r7, r9, r10
	sbc.w	lr, lr, #0
	ldr.w	r0, [sp, #RESULT]
	@ 2^256 - p is 1 more than what was added: that is in the carry now. The number is not p,
	@ for which this would come too late: it would be a multiple of p made of the product 0.
	cmp.w	lr, #0
	plus_p	adcs, lr, r4, r5, r3, r12, r6, r7, r9, r10
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, r0
	add.w	sp, sp, #FRAME + 4
	pop.w	{r4-r11, pc}
	.size	ws_p256_multiply, . - ws_p256_multiply

@ ------------------------------------------------------------------ square

@ In: r0 a number of four words; the frame above at sp. Out: r4, r5, r3, r12, r6, r7, r9, r10 its
@ square. Clobbers r0-r2, r8, r11, flags.
	.section .text.ws_p256_square, "ax", %progbits
	.balign	4
	.type	square_128, %function
	.thumb_func
square_128:
	str.w	r0, [sp, #A_HALF]
	ldr.w	r3, [r0]
	ldr.w	r5, [r0, #4]
	ldr.w	r4, [r0, #8]
	ldr.w	r6, [r0, #12]
	difference_64	r3, r5, r3, r5, r4, r6, r11
	halve	r3, r4, r5, r6
	square_64
	store_half_product	HALF_MIDDLE
	ldr.w	r0, [sp, #A_HALF]
	load_halfwords	r3, r4, r5, r6, r0, 0
	square_64
	store_half_product	HALF_LOW
	ldr.w	r0, [sp, #A_HALF]
	load_halfwords	r3, r4, r5, r6, r0, 8
	square_64
	join_halves
	bx	lr
	.size	square_128, . - square_128

@ void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 192 bytes. 667 cycles. As the product, in whose frame it works and whose end it has; the
@ product of the differences is always to be subtracted.
	.balign	4
	.global	ws_p256_square
	.type	ws_p256_square, %function
	.thumb_func
ws_p256_square:
	push.w	{r0, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	str.w	r1, [sp, #OPERAND_A]
	difference_128	r1, 0, A_DIFFERENCE, r3
	mov.w	r3, #0xffffffff
	str.w	r3, [sp, #SIGN]
	str.w	r3, [sp, #HALF_SIGN]
	add.w	r0, sp, #A_DIFFERENCE
	bl	square_128
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, sp, MIDDLE
	ldr.w	r0, [sp, #OPERAND_A]
	bl	square_128
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, sp, LOW
	ldr.w	r0, [sp, #OPERAND_A]
	add.w	r0, r0, #16
	bl	square_128
	b.w	.Ljoin
	.size	ws_p256_square, . - ws_p256_square
