@ Products and squares in the field of secp160r1 for Cortex-M3. secp160r1_field_fast.S, with the rest of
@ secp160r1_field.h, includes this file.
@
@ Constant time: UMULL and UMLAL take a time that depends on what they multiply (ARM DDI 0337, table of
@ instruction timings) and are left out; MUL, 32 bits by 32 to 32, takes one cycle.

	@ On the stack: columns of the product, then the arguments.
	.set	COLUMNS, 0
	.set	FRAME, 32
	.set	RESULT, FRAME
	.set	OPERAND_A, FRAME + 4
	.set	OPERAND_B, FRAME + 8

@ ------------------------------------------------------------------ a word by a word

@ c:w plus 2^16 times the middle of the product of the word of the halfwords l, h and that of lr, r2. The carry
@ of the middle is shifted into h from above. Clobbers l, h, flags. 6 cycles.
.macro	add_middle w, c, l, h
	mul	\l, \l, r2
	mul	\h, \h, lr
	adds.w	\l, \l, \h
	rrx.w	\h, \l
	adds.w	\w, \w, \l, lsl #16
	adc.w	\c, \c, \h, lsr #15
.endm

@ c:w = the product. 8 cycles.
.macro	word_only w, c, l, h
	mul	\w, \l, lr
	mul	\c, \h, r2
	add_middle	\w, \c, \l, \h
.endm

@ c:w = c plus the product. 10 cycles.
.macro	word_next w, c, l, h
	mul	\w, \l, lr
	adds.w	\w, \w, \c
	mul	\c, \h, r2
	adc.w	\c, \c, #0
	add_middle	\w, \c, \l, \h
.endm

@ c:w = w plus the product. Clobbers r0, too. 10 cycles.
.macro	word_first w, c, l, h
	mul	r0, \l, lr
	adds.w	\w, \w, r0
	mul	\c, \h, r2
	adc.w	\c, \c, #0
	add_middle	\w, \c, \l, \h
.endm

@ c:w = w plus c plus the product. Clobbers r0, too. 12 cycles.
.macro	word_full w, c, l, h
	mul	r0, \l, lr
	adds.w	\w, \w, \c
	mul	\c, \h, r2
	adc.w	\c, \c, #0
	adds.w	\w, \w, r0
	adc.w	\c, \c, #0
	add_middle	\w, \c, \l, \h
.endm

@ The halfwords of two words of a, and of one, to r9-r12.
.macro	load_two at
	ldrh.w	r9, [r1, #\at]
	ldrh.w	r10, [r1, #\at + 2]
	ldrh.w	r11, [r1, #\at + 4]
	ldrh.w	r12, [r1, #\at + 6]
.endm

.macro	load_one at
	ldrh.w	r9, [r1, #\at]
	ldrh.w	r10, [r1, #\at + 2]
.endm

@ What is in `from`, to lr and r2.
.macro	load_factor from, at
	ldrh.w	lr, [\from, #\at]
	ldrh.w	r2, [\from, #\at + 2]
.endm

@ ------------------------------------------------------------------ reduction

@ l0 to l4 = (l0 to l4) + 2^160 (h0 to h4) modulo p. The high half times k is added, which leaves a word
@ and a bit; then that and 1 times k, which is k too much if there is no carry then. Clobbers
@ r0, h0, h4, flags. 38 cycles.
.macro	reduce l0, l1, l2, l3, l4, h0, h1, h2, h3, h4
	adds.w	\l0, \l0, \h0
	adcs.w	\l1, \l1, \h1
	adcs.w	\l2, \l2, \h2
	adcs.w	\l3, \l3, \h3
	adcs.w	\l4, \l4, \h4
	mov.w	r0, #1
	adc.w	r0, r0, \h4, lsr #1
	adds.w	\l0, \l0, \h0, lsl #31
	adcs.w	\l1, \l1, \h1, lsl #31
	adcs.w	\l2, \l2, \h2, lsl #31
	adcs.w	\l3, \l3, \h3, lsl #31
	adcs.w	\l4, \l4, \h4, lsl #31
	adc.w	r0, r0, #0
	adds.w	\l1, \l1, \h0, lsr #1
	adcs.w	\l2, \l2, \h1, lsr #1
	adcs.w	\l3, \l3, \h2, lsr #1
	adcs.w	\l4, \l4, \h3, lsr #1
	adc.w	r0, r0, #0
	@ The two carries cannot both be 1.
	adds.w	\l0, \l0, r0
	adcs.w	\l1, \l1, r0, lsr #1
	adcs.w	\l2, \l2, #0
	adcs.w	\l3, \l3, #0
	adcs.w	\l4, \l4, #0
	sbc.w	\h4, \h4, \h4
	adds.w	\l0, \l0, r0, lsl #31
	adcs.w	\l1, \l1, #0
	adcs.w	\l2, \l2, #0
	adcs.w	\l3, \l3, #0
	adcs.w	\l4, \l4, #0
	adc.w	\h4, \h4, #0
	load_k	\h0
	and.w	\h4, \h4, \h0
	less_word	\h4, \l0, \l1, \l2, \l3, \l4
.endm

@ ------------------------------------------------------------------ product

@ What stands in the columns w0 to w4 plus the product of a and the word of b at `at`; c becomes
@ the column after w4.
.macro	row at, w0, w1, w2, w3, w4, c
	ldr.w	r0, [sp, #OPERAND_B]
	load_two	0
	load_factor	r0, \at
	word_first	\w0, \c, r9, r10
	word_full	\w1, \c, r11, r12
	load_two	8
	word_full	\w2, \c, r9, r10
	word_full	\w3, \c, r11, r12
	load_one	16
	word_full	\w4, \c, r9, r10
.endm

@ void ws_secp160r1_multiply(ws_secp160r1_element *r, const ws_secp160r1_element *a,
@                            const ws_secp160r1_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 80 bytes. 438 cycles. Rows of a by one word of b each.
	.section .text.ws_secp160r1_multiply, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_multiply
	.type	ws_secp160r1_multiply, %function
	.thumb_func
ws_secp160r1_multiply:
	push.w	{r0-r2, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	load_two	0
	load_factor	r2, 0
	word_only	r3, r8, r9, r10
	word_next	r4, r8, r11, r12
	load_two	8
	word_next	r5, r8, r9, r10
	word_next	r6, r8, r11, r12
	load_one	16
	word_next	r7, r8, r9, r10
	str.w	r3, [sp, #COLUMNS]
	row	4, r4, r5, r6, r7, r8, r3
	str.w	r4, [sp, #COLUMNS + 4]
	row	8, r5, r6, r7, r8, r3, r4
	str.w	r5, [sp, #COLUMNS + 8]
	row	12, r6, r7, r8, r3, r4, r5
	str.w	r6, [sp, #COLUMNS + 12]
	row	16, r7, r8, r3, r4, r5, r6
	ldr.w	r1, [sp, #COLUMNS]
	ldr.w	r2, [sp, #COLUMNS + 4]
	ldr.w	r9, [sp, #COLUMNS + 8]
	ldr.w	r10, [sp, #COLUMNS + 12]
	ldr.w	lr, [sp, #RESULT]
	reduce	r1, r2, r9, r10, r7, r8, r3, r4, r5, r6
	store_element	lr, r1, r2, r9, r10, r7
	add.w	sp, sp, #FRAME + 12
	pop.w	{r4-r11, pc}
	.size	ws_secp160r1_multiply, . - ws_secp160r1_multiply

@ ------------------------------------------------------------------ square

@ h:l = the square of the word of the halfwords l and h. Clobbers t, flags. 5 cycles.
.macro	square_word l, h, t
	mul	\t, \l, \h
	mul	\l, \l, \l
	mul	\h, \h, \h
	adds.w	\l, \l, \t, lsl #17
	adc.w	\h, \h, \t, lsr #15
.endm

@ v0 to v3, with the carry, plus four columns from the stack.
.macro	add_columns first, at, v0, v1, v2, v3
	ldr.w	r0, [sp, #COLUMNS + \at]
	ldr.w	r2, [sp, #COLUMNS + \at + 4]
	ldr.w	r12, [sp, #COLUMNS + \at + 8]
	ldr.w	lr, [sp, #COLUMNS + \at + 12]
	\first\().w	\v0, \v0, r0
	adcs.w	\v1, \v1, r2
	adcs.w	\v2, \v2, r12
	adcs.w	\v3, \v3, lr
.endm

@ void ws_secp160r1_square(ws_secp160r1_element *r, const ws_secp160r1_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 80 bytes. 292 cycles. The products of different words, columns 1 to 8, on the stack; they are
@ added twice to the squares of words.
	.section .text.ws_secp160r1_square, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_square
	.type	ws_secp160r1_square, %function
	.thumb_func
ws_secp160r1_square:
	push.w	{r0-r2, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	load_factor	r1, 0
	load_two	4
	word_only	r3, r7, r9, r10
	word_next	r4, r7, r11, r12
	load_two	12
	word_next	r5, r7, r9, r10
	word_next	r6, r7, r11, r12
	str.w	r3, [sp, #COLUMNS]
	str.w	r4, [sp, #COLUMNS + 4]
	load_factor	r1, 4
	load_two	8
	word_first	r5, r8, r9, r10
	word_full	r6, r8, r11, r12
	load_one	16
	word_full	r7, r8, r9, r10
	str.w	r5, [sp, #COLUMNS + 8]
	str.w	r6, [sp, #COLUMNS + 12]
	load_factor	r1, 8
	load_two	12
	word_first	r7, r3, r9, r10
	word_full	r8, r3, r11, r12
	str.w	r7, [sp, #COLUMNS + 16]
	str.w	r8, [sp, #COLUMNS + 20]
	load_factor	r1, 12
	load_one	16
	word_first	r3, r4, r9, r10
	str.w	r3, [sp, #COLUMNS + 24]
	str.w	r4, [sp, #COLUMNS + 28]
	ldrh.w	r2, [r1]
	ldrh.w	r3, [r1, #2]
	ldrh.w	r4, [r1, #4]
	ldrh.w	r5, [r1, #6]
	ldrh.w	r6, [r1, #8]
	ldrh.w	r7, [r1, #10]
	ldrh.w	r8, [r1, #12]
	ldrh.w	r9, [r1, #14]
	ldrh.w	r10, [r1, #16]
	ldrh.w	r11, [r1, #18]
	mov.w	r1, r2
	square_word	r1, r3, r0
	square_word	r4, r5, r0
	square_word	r6, r7, r0
	square_word	r8, r9, r0
	square_word	r10, r11, r0
	.rept	2
	add_columns	adds, 0, r3, r4, r5, r6
	add_columns	adcs, 16, r7, r8, r9, r10
	adc.w	r11, r11, #0
	.endr
	ldr.w	lr, [sp, #RESULT]
	reduce	r1, r3, r4, r5, r6, r7, r8, r9, r10, r11
	store_element	lr, r1, r3, r4, r5, r6
	add.w	sp, sp, #FRAME + 12
	pop.w	{r4-r11, pc}
	.size	ws_secp160r1_square, . - ws_secp160r1_square
