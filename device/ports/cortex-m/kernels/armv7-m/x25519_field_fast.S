@ The field of X25519 for Cortex-M4 and M7: x25519_field.h's functions but ws_x25519_freeze.
@
@ Constant time: no branch, no address and no instruction's duration depends on an operand. UMULL, UMLAL and UMAAL take
@ a cycle whatever they multiply on Cortex-M4 (ARM DDI 0439, table 3-1), and a time that is always the same on M7
@ (LLVM's scheduling model, ARMScheduleM7.td). Cortex-M3, on which they do not, has no UMAAL.
@
@ Reduction: 2^256 is 38 and 2^255 is 19. Of a product's columns (words of weight 2^(32 k)) 7 and 15 are joined first: what they
@ have from 2^255 on, times 19, is the carry into column 0, and the columns 0 to 6, plus 38 times the columns 8 to 14, are one
@ chain. Its carry fits into column 7, which is below 2^31 then: the result is below 2^255 + 2^230.
@
@ 32-bit instructions lie on word boundaries: the third in a row that does not costs a
@ cycle on Cortex-M4. Single loads and stores stand together, stores first: each but the
@ first then takes one cycle. The cycles given are those without wait states, call included.

	.syntax unified
	.thumb

@ c = 19 times what c:w has from bit 31 on; w keeps the 31 bits below. Clobbers t. 5 cycles.
@ c:w is below 2^38.
.macro	split c, w, t
	lsl.w	\c, \c, #1
	orr.w	\c, \c, \w, lsr #31
	bic.w	\w, \w, #0x80000000
	add.w	\t, \c, \c, lsl #3
	add.w	\c, \c, \t, lsl #1
.endm

@ ------------------------------------------------------------------ product

	@ Of what lies on the stack: columns 0 to 6; columns 9 to 11 of the products with the low half of a; the result's address.
	.set	LOW, 0
	.set	WAITING, 28
	.set	FRAME, 40
	.set	RESULT, FRAME

@ What stands in the columns w0 to w3 and in c, which belongs to the first of them, plus the
@ product of b and the four words in r3-r6; c becomes the column after w3. 4 cycles.
.macro	row w0, w1, w2, w3, c, b
	umaal	\w0, \c, r3, \b
	umaal	\w1, \c, r4, \b
	umaal	\w2, \c, r5, \b
	umaal	\w3, \c, r6, \b
.endm

@ void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a,
@                         const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 80 bytes. 0 cycles.
@ Rows of four words of a by one word of b, first the low half of a, then the high one. A row's chain of carries starts with room
@ for one word more: that takes what the first half left in columns 8 to 11.
	.section .text.ws_x25519_multiply, "ax", %progbits
	.balign	4
	.global	ws_x25519_multiply
	.type	ws_x25519_multiply, %function
	.thumb_func
ws_x25519_multiply:
	push.w	{r0, r4-r11, lr}
	sub.w	sp, sp, #FRAME
	ldm.w	r1!, {r3-r6}
	ldr.w	lr, [r2]
	ldr.w	r0, [r2, #4]
	mov.w	r8, #0
	mov.w	r9, #0
	mov.w	r10, #0
	umull	r7, r11, r3, lr
	umaal	r8, r11, r4, lr
	umaal	r9, r11, r5, lr
	umaal	r10, r11, r6, lr
	mov.w	r12, #0
	row	r8, r9, r10, r11, r12, r0
	str.w	r7, [sp, #LOW]
	str.w	r8, [sp, #LOW + 4]
	ldr.w	lr, [r2, #8]
	ldr.w	r0, [r2, #12]
	mov.w	r7, #0
	mov.w	r8, #0
	row	r9, r10, r11, r12, r7, lr
	row	r10, r11, r12, r7, r8, r0
	str.w	r9, [sp, #LOW + 8]
	str.w	r10, [sp, #LOW + 12]
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [r2, #20]
	mov.w	r9, #0
	mov.w	r10, #0
	row	r11, r12, r7, r8, r9, lr
	row	r12, r7, r8, r9, r10, r0
	str.w	r11, [sp, #LOW + 16]
	str.w	r12, [sp, #LOW + 20]
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [r2, #28]
	mov.w	r11, #0
	mov.w	r12, #0
	row	r7, r8, r9, r10, r11, lr
	row	r8, r9, r10, r11, r12, r0

	@ Column 8 waits in r1, 9 to 11 on the stack; 6 and 7 stay in r7 and r8.
	str.w	r10, [sp, #WAITING]
	str.w	r11, [sp, #WAITING + 4]
	str.w	r12, [sp, #WAITING + 8]
	ldr.w	lr, [r2]
	ldr.w	r0, [r2, #4]
	ldr.w	r11, [sp, #LOW + 16]
	ldr.w	r12, [sp, #LOW + 20]
	ldm.w	r1, {r3-r6}
	mov.w	r1, r9
	mov.w	r9, #0
	mov.w	r10, #0
	row	r11, r12, r7, r8, r9, lr
	row	r12, r7, r8, r9, r10, r0
	str.w	r11, [sp, #LOW + 16]
	str.w	r12, [sp, #LOW + 20]
	ldr.w	lr, [r2, #8]
	ldr.w	r0, [r2, #12]
	mov.w	r11, #0
	mov.w	r12, #0
	row	r7, r8, r9, r10, r11, lr
	row	r8, r9, r10, r11, r12, r0
	str.w	r7, [sp, #LOW + 24]
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [r2, #20]
	ldr.w	r7, [sp, #WAITING]
	row	r9, r10, r11, r12, r1, lr
	row	r10, r11, r12, r1, r7, r0
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [r2, #28]
	ldr.w	r2, [sp, #WAITING + 4]
	row	r11, r12, r1, r7, r2, lr
	ldr.w	lr, [sp, #WAITING + 8]
	row	r12, r1, r7, r2, lr, r0

	@ Columns 7 to 15: r8, r9, r10, r11, r12, r1, r7, r2, lr.
	mov.w	r3, #38
	mov.w	r0, #0
	umaal	r8, r0, lr, r3
	split	r0, r8, lr
	ldr.w	r4, [sp, #LOW]
	ldr.w	r5, [sp, #LOW + 4]
	ldr.w	r6, [sp, #LOW + 8]
	ldr.w	lr, [sp, #LOW + 12]
	umaal	r4, r0, r9, r3
	umaal	r5, r0, r10, r3
	umaal	r6, r0, r11, r3
	umaal	lr, r0, r12, r3
	ldr.w	r9, [sp, #LOW + 16]
	ldr.w	r10, [sp, #LOW + 20]
	ldr.w	r11, [sp, #LOW + 24]
	ldr.w	r12, [sp, #RESULT]
	umaal	r9, r0, r1, r3
	umaal	r10, r0, r7, r3
	umaal	r11, r0, r2, r3
	add.w	r8, r8, r0
	str.w	r4, [r12]
	str.w	r5, [r12, #4]
	str.w	r6, [r12, #8]
	str.w	lr, [r12, #12]
	str.w	r9, [r12, #16]
	str.w	r10, [r12, #20]
	str.w	r11, [r12, #24]
	str.w	r8, [r12, #28]
	add.w	sp, sp, #FRAME + 4
	pop.w	{r4-r11, pc}
	.size	ws_x25519_multiply, . - ws_x25519_multiply

@ void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
	.section .text.ws_x25519_square, "ax", %progbits
	.balign	4
	.global	ws_x25519_square
	.type	ws_x25519_square, %function
	.thumb_func
ws_x25519_square:
	mov.w	r2, r1
	b.w	ws_x25519_multiply
	.size	ws_x25519_square, . - ws_x25519_square

@ void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 0 cycles. As the product's end, with 121665 for 38 and nothing in the columns below.
	.section .text.ws_x25519_multiply_121665, "ax", %progbits
	.balign	4
	.global	ws_x25519_multiply_121665
	.type	ws_x25519_multiply_121665, %function
	.thumb_func
ws_x25519_multiply_121665:
	push.w	{r4-r11, lr}
	ldm.w	r1, {r4-r11}
	movw	r2, #0xdb41
	movt	r2, #0x1
	umull	r11, r3, r11, r2
	split	r3, r11, r12
	mov.w	r12, #0
	umlal	r3, r12, r4, r2
	mov.w	r4, #0
	umlal	r12, r4, r5, r2
	mov.w	r5, #0
	umlal	r4, r5, r6, r2
	mov.w	r6, #0
	umlal	r5, r6, r7, r2
	mov.w	r7, #0
	umlal	r6, r7, r8, r2
	mov.w	r8, #0
	umlal	r7, r8, r9, r2
	mov.w	r9, #0
	umlal	r8, r9, r10, r2
	add.w	r11, r11, r9
	str.w	r3, [r0]
	str.w	r12, [r0, #4]
	str.w	r4, [r0, #8]
	str.w	r5, [r0, #12]
	str.w	r6, [r0, #16]
	str.w	r7, [r0, #20]
	str.w	r8, [r0, #24]
	str.w	r11, [r0, #28]
	pop.w	{r4-r11, pc}
	.size	ws_x25519_multiply_121665, . - ws_x25519_multiply_121665

@ ------------------------------------------------------------------ sum, difference

@ void ws_x25519_add(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 0 cycles. As the product's end: b is multiplied with 1, so that UMAAL has room for the carry, too.
	.section .text.ws_x25519_add, "ax", %progbits
	.balign	4
	.global	ws_x25519_add
	.type	ws_x25519_add, %function
	.thumb_func
ws_x25519_add:
	push.w	{r4-r11, lr}
	ldm.w	r1, {r4-r11}
	ldr.w	r12, [r2, #28]
	ldr.w	r1, [r2]
	ldr.w	lr, [r2, #4]
	mov.w	r3, #0
	adds.w	r11, r11, r12
	adc.w	r3, r3, r3
	split	r3, r11, r12
	mov.w	r12, #1
	umaal	r4, r3, r1, r12
	umaal	r5, r3, lr, r12
	ldr.w	r1, [r2, #8]
	ldr.w	lr, [r2, #12]
	umaal	r6, r3, r1, r12
	umaal	r7, r3, lr, r12
	ldr.w	r1, [r2, #16]
	ldr.w	lr, [r2, #20]
	ldr.w	r2, [r2, #24]
	umaal	r8, r3, r1, r12
	umaal	r9, r3, lr, r12
	umaal	r10, r3, r2, r12
	add.w	r11, r11, r3
	stm.w	r0, {r4-r11}
	pop.w	{r4-r11, pc}
	.size	ws_x25519_add, . - ws_x25519_add

@ void ws_x25519_subtract(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 0 cycles. With t 2^31 + m the difference of the highest words, t from -2 to 1 and m from 0 up, a - b is
@ 2^255 + 2^224 m, less 19 (1 - t), plus the difference of the words below: less than 2^256, and not negative.
	.section .text.ws_x25519_subtract, "ax", %progbits
	.balign	4
	.global	ws_x25519_subtract
	.type	ws_x25519_subtract, %function
	.thumb_func
ws_x25519_subtract:
	push.w	{r4-r11, lr}
	ldm.w	r1, {r4-r11}
	ldr.w	r12, [r2, #28]
	ldr.w	r1, [r2]
	ldr.w	lr, [r2, #4]
	subs.w	r11, r11, r12
	sbc.w	r3, r3, r3
	lsl.w	r3, r3, #1
	add.w	r3, r3, r11, lsr #31
	rsb.w	r3, r3, #1
	add.w	r12, r3, r3, lsl #3
	add.w	r3, r3, r12, lsl #1
	orr.w	r11, r11, #0x80000000
	ldr.w	r12, [r2, #8]
	subs.w	r4, r4, r1
	sbcs.w	r5, r5, lr
	sbcs.w	r6, r6, r12
	ldr.w	r12, [r2, #12]
	ldr.w	r1, [r2, #16]
	ldr.w	lr, [r2, #20]
	ldr.w	r2, [r2, #24]
	sbcs.w	r7, r7, r12
	sbcs.w	r8, r8, r1
	sbcs.w	r9, r9, lr
	sbcs.w	r10, r10, r2
	sbc.w	r11, r11, #0
	subs.w	r4, r4, r3
	sbcs.w	r5, r5, #0
	sbcs.w	r6, r6, #0
	sbcs.w	r7, r7, #0
	sbcs.w	r8, r8, #0
	sbcs.w	r9, r9, #0
	sbcs.w	r10, r10, #0
	sbc.w	r11, r11, #0
	stm.w	r0, {r4-r11}
	pop.w	{r4-r11, pc}
	.size	ws_x25519_subtract, . - ws_x25519_subtract
