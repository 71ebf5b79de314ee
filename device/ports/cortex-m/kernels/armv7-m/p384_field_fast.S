@ The field of P-384 for Cortex-M4 and M7: p384_field.h's five functions.
@
@ The cycles given are those of Cortex-M4 without wait states, call included.
@
@ Constant time: no branch and no address depends on an operand. UMULL and UMAAL take a cycle
@ whatever they multiply on Cortex-M4 (ARM DDI 0439, table 3-1), and a time that is always the same
@ on M7 (LLVM's scheduling model, ARMScheduleM7.td).
@
@ p = 2^384 - 2^128 - 2^96 + 2^32 - 1. Montgomery's reduction finds q, whose product with p clears
@ the low half of the product t. Column i, of weight 2^(32 i), has
@
@     t(i) + q(i - 12) + q(i - 1) - q(i - 3) - q(i - 4) - q(i),
@
@ which is 0 in the low half: so q comes of additions alone, three words at a time.
@ s = q + 2^32 q is what is subtracted three columns further up.
@
@ The stack during a product or a square, from sp: 24 words of t, in whose low half q takes the
@ place of what it clears; 12 words of an operand; the pointers to r and a.

	.syntax unified
	.thumb

	.set	OPERAND, 96
	.set	R_POINTER, 144
	.set	A_POINTER, 148

@ The carry in \to and back: 0 if it is set, -1 if it is clear. A cycle each.
.macro	save_carry to
	sbc.w	\to, \to, \to
.endm

.macro	restore_carry from
	rsbs.w	\from, \from, #0
.endm

@ Adds p times 0 or 1, `mask` being 0 or -1, to r2 to r12, lr. 12 cycles.
.macro	plus_p	mask
	adds.w	r2, r2, \mask
	adcs.w	r3, r3, #0
	adcs.w	r4, r4, #0
	adcs.w	r5, r5, \mask
	adcs.w	r6, r6, \mask, lsl #1
	.irp	word, r7, r8, r9, r10, r11, r12, lr
	adcs.w	\word, \word, \mask
	.endr
.endm

@ A word times r0 to r5, added to the columns c0 to c5; h, added to c0, becomes the column above
@ them. 6 cycles.
.macro	row	word, c0, c1, c2, c3, c4, c5, h
	umaal	\c0, \h, r0, \word
	umaal	\c1, \h, r1, \word
	umaal	\c2, \h, r2, \word
	umaal	\c3, \h, r3, \word
	umaal	\c4, \h, r4, \word
	umaal	\c5, \h, r5, \word
.endm

@ Three columns of q, from t at `column` on. In: s0 to s2, three words of s; q, the last word of q;
@ r10, r11, r12 the carries of t - s, q and s. Out: v2 the last word of q; s0 to s2 the next of s.
@ 23 cycles.
.macro	three_columns	column, v0, v1, v2, q, s0, s1, s2
	ldr.w	\v0, [sp, #4 * \column]
	ldr.w	\v1, [sp, #4 * \column + 4]
	ldr.w	\v2, [sp, #4 * \column + 8]
	restore_carry	r10
	sbcs.w	\v0, \v0, \s0
	sbcs.w	\v1, \v1, \s1
	sbcs.w	\v2, \v2, \s2
	save_carry	r10
	restore_carry	r11
	adcs.w	\v0, \v0, \q
	adcs.w	\v1, \v1, \v0
	adcs.w	\v2, \v2, \v1
	save_carry	r11
	restore_carry	r12
	adcs.w	\s0, \v0, \q
	adcs.w	\s1, \v1, \v0
	adcs.w	\s2, \v2, \v1
	save_carry	r12
	str.w	\v0, [sp, #4 * \column]
	str.w	\v1, [sp, #4 * \column + 4]
	str.w	\v2, [sp, #4 * \column + 8]
.endm

@ Reduces t and returns from the function that made it. In: the stack as above, below r4 to r11 and
@ lr.
	.section .text.ws_p384_reduce, "ax", %progbits
	.balign	8
	.type	ws_p384_reduce, %function
	.thumb_func
ws_p384_reduce:
	ldr.w	r0, [sp]
	ldr.w	r1, [sp, #4]
	ldr.w	r2, [sp, #8]
	adds.w	r1, r1, r0
	adcs.w	r2, r2, r1
	save_carry	r11
	mov.w	r4, r0
	adds.w	r5, r1, r0
	adcs.w	r6, r2, r1
	save_carry	r12
	mov.w	r10, #0
	str.w	r1, [sp, #4]
	str.w	r2, [sp, #8]
	three_columns	3, r7, r8, r9, r2, r4, r5, r6
	three_columns	6, r0, r1, r2, r9, r4, r5, r6
	three_columns	9, r7, r8, r9, r2, r4, r5, r6

	@ Words 12 and up: less the rest of s, plus the last word of q, and plus 2^384 - p, so that a
	@ carry says whether p is contained. r4 to r7, r8: this with the other sign, r0 what is above it.
	restore_carry	r12
	adcs.w	r7, r9, #0
	mov.w	r8, #0
	adc.w	r8, r8, #0
	subs.w	r4, r4, r9
	sbcs.w	r5, r5, #0
	sbcs.w	r6, r6, #0
	sbcs.w	r7, r7, #0
	sbc.w	r8, r8, #0
	subs.w	r4, r4, #1
	sbcs.w	r5, r5, #0xffffffff
	sbcs.w	r6, r6, #0xffffffff
	sbcs.w	r7, r7, #0
	sbc.w	r8, r8, #1
	asr.w	r9, r8, #31
	add.w	r0, sp, #OPERAND
	stmia.w	r0, {r4-r10}
	restore_carry	r11
	ldr.w	r2, [sp, #48]
	ldr.w	r3, [sp, #52]
	ldr.w	r0, [sp, #0]
	ldr.w	r1, [sp, #4]
	adcs.w	r2, r2, r0
	adcs.w	r3, r3, r1
	ldr.w	r4, [sp, #56]
	ldr.w	r5, [sp, #60]
	ldr.w	r0, [sp, #8]
	ldr.w	r1, [sp, #12]
	adcs.w	r4, r4, r0
	adcs.w	r5, r5, r1
	ldr.w	r6, [sp, #64]
	ldr.w	r7, [sp, #68]
	ldr.w	r0, [sp, #16]
	ldr.w	r1, [sp, #20]
	adcs.w	r6, r6, r0
	adcs.w	r7, r7, r1
	ldr.w	r8, [sp, #72]
	ldr.w	r9, [sp, #76]
	ldr.w	r0, [sp, #24]
	ldr.w	r1, [sp, #28]
	adcs.w	r8, r8, r0
	adcs.w	r9, r9, r1
	ldr.w	r10, [sp, #80]
	ldr.w	r11, [sp, #84]
	ldr.w	r0, [sp, #32]
	ldr.w	r1, [sp, #36]
	adcs.w	r10, r10, r0
	adcs.w	r11, r11, r1
	ldr.w	r12, [sp, #88]
	ldr.w	lr, [sp, #92]
	ldr.w	r0, [sp, #40]
	ldr.w	r1, [sp, #44]
	adcs.w	r12, r12, r0
	adcs.w	lr, lr, r1
	mov.w	r1, #0
	adc.w	r1, r1, #0
	ldr.w	r0, [sp, #OPERAND + 24]
	restore_carry	r0
	ldr.w	r0, [sp, #OPERAND + 0]
	sbcs.w	r2, r2, r0
	ldr.w	r0, [sp, #OPERAND + 4]
	sbcs.w	r3, r3, r0
	ldr.w	r0, [sp, #OPERAND + 8]
	sbcs.w	r4, r4, r0
	ldr.w	r0, [sp, #OPERAND + 12]
	sbcs.w	r5, r5, r0
	ldr.w	r0, [sp, #OPERAND + 16]
	sbcs.w	r6, r6, r0
	ldr.w	r0, [sp, #OPERAND + 20]
	sbcs.w	r7, r7, r0
	sbcs.w	r8, r8, r0
	sbcs.w	r9, r9, r0
	sbcs.w	r10, r10, r0
	sbcs.w	r11, r11, r0
	sbcs.w	r12, r12, r0
	sbcs.w	lr, lr, r0
	sbc.w	r1, r1, r0
	sub.w	r1, r1, #1
	plus_p	r1
	ldr.w	r0, [sp, #R_POINTER]
	add.w	sp, sp, #152
	stmia.w	r0, {r2-r12, lr}
	pop.w	{r4-r11, pc}
	.size	ws_p384_reduce, . - ws_p384_reduce

@ void ws_p384_multiply(ws_p384_element *r, const ws_p384_element *a,
@                       const ws_p384_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 188 bytes. 571 cycles. Six words of a at a time in r0 to r5, times a word of b in lr.
	.section .text.ws_p384_multiply, "ax", %progbits
	.balign	8
	.global	ws_p384_multiply
	.type	ws_p384_multiply, %function
	.thumb_func
ws_p384_multiply:
	push.w	{r4-r11, lr}
	push.w	{r0, r1}
	sub.w	sp, sp, #144
	add.w	r12, sp, #OPERAND
	ldmia.w	r2!, {r3-r8}
	stmia.w	r12!, {r3-r8}
	ldmia.w	r2, {r3-r8}
	stmia.w	r12, {r3-r8}
	ldmia.w	r1, {r0-r5}
	ldr.w	lr, [sp, #96]
	umull	r6, r7, r0, lr
	mov.w	r8, #0
	umaal	r7, r8, r1, lr
	mov.w	r9, #0
	umaal	r8, r9, r2, lr
	mov.w	r10, #0
	umaal	r9, r10, r3, lr
	mov.w	r11, #0
	umaal	r10, r11, r4, lr
	mov.w	r12, #0
	umaal	r11, r12, r5, lr
	str.w	r6, [sp, #0]
	ldr.w	lr, [sp, #100]
	mov.w	r6, #0
	row	lr, r7, r8, r9, r10, r11, r12, r6
	str.w	r7, [sp, #4]
	ldr.w	lr, [sp, #104]
	mov.w	r7, #0
	row	lr, r8, r9, r10, r11, r12, r6, r7
	str.w	r8, [sp, #8]
	ldr.w	lr, [sp, #108]
	mov.w	r8, #0
	row	lr, r9, r10, r11, r12, r6, r7, r8
	str.w	r9, [sp, #12]
	ldr.w	lr, [sp, #112]
	mov.w	r9, #0
	row	lr, r10, r11, r12, r6, r7, r8, r9
	str.w	r10, [sp, #16]
	ldr.w	lr, [sp, #116]
	mov.w	r10, #0
	row	lr, r11, r12, r6, r7, r8, r9, r10
	str.w	r11, [sp, #20]
	ldr.w	lr, [sp, #120]
	mov.w	r11, #0
	row	lr, r12, r6, r7, r8, r9, r10, r11
	str.w	r12, [sp, #24]
	ldr.w	lr, [sp, #124]
	mov.w	r12, #0
	row	lr, r6, r7, r8, r9, r10, r11, r12
	str.w	r6, [sp, #28]
	ldr.w	lr, [sp, #128]
	mov.w	r6, #0
	row	lr, r7, r8, r9, r10, r11, r12, r6
	str.w	r7, [sp, #32]
	ldr.w	lr, [sp, #132]
	mov.w	r7, #0
	row	lr, r8, r9, r10, r11, r12, r6, r7
	str.w	r8, [sp, #36]
	ldr.w	lr, [sp, #136]
	mov.w	r8, #0
	row	lr, r9, r10, r11, r12, r6, r7, r8
	str.w	r9, [sp, #40]
	ldr.w	lr, [sp, #140]
	mov.w	r9, #0
	row	lr, r10, r11, r12, r6, r7, r8, r9
	str.w	r10, [sp, #44]
	str.w	r11, [sp, #48]
	str.w	r12, [sp, #52]
	str.w	r6, [sp, #56]
	str.w	r7, [sp, #60]
	str.w	r8, [sp, #64]
	str.w	r9, [sp, #68]
	ldr.w	r5, [sp, #A_POINTER]
	add.w	r5, r5, #24
	ldmia.w	r5, {r0-r5}
	ldr.w	lr, [sp, #96]
	ldr.w	r6, [sp, #24]
	mov.w	r7, #0
	umaal	r6, r7, r0, lr
	mov.w	r8, #0
	umaal	r7, r8, r1, lr
	mov.w	r9, #0
	umaal	r8, r9, r2, lr
	mov.w	r10, #0
	umaal	r9, r10, r3, lr
	mov.w	r11, #0
	umaal	r10, r11, r4, lr
	mov.w	r12, #0
	umaal	r11, r12, r5, lr
	str.w	r6, [sp, #24]
	ldr.w	lr, [sp, #100]
	ldr.w	r6, [sp, #28]
	row	lr, r7, r8, r9, r10, r11, r12, r6
	str.w	r7, [sp, #28]
	ldr.w	lr, [sp, #104]
	ldr.w	r7, [sp, #32]
	row	lr, r8, r9, r10, r11, r12, r6, r7
	str.w	r8, [sp, #32]
	ldr.w	lr, [sp, #108]
	ldr.w	r8, [sp, #36]
	row	lr, r9, r10, r11, r12, r6, r7, r8
	str.w	r9, [sp, #36]
	ldr.w	lr, [sp, #112]
	ldr.w	r9, [sp, #40]
	row	lr, r10, r11, r12, r6, r7, r8, r9
	str.w	r10, [sp, #40]
	ldr.w	lr, [sp, #116]
	ldr.w	r10, [sp, #44]
	row	lr, r11, r12, r6, r7, r8, r9, r10
	str.w	r11, [sp, #44]
	ldr.w	lr, [sp, #120]
	ldr.w	r11, [sp, #48]
	row	lr, r12, r6, r7, r8, r9, r10, r11
	str.w	r12, [sp, #48]
	ldr.w	lr, [sp, #124]
	ldr.w	r12, [sp, #52]
	row	lr, r6, r7, r8, r9, r10, r11, r12
	str.w	r6, [sp, #52]
	ldr.w	lr, [sp, #128]
	ldr.w	r6, [sp, #56]
	row	lr, r7, r8, r9, r10, r11, r12, r6
	str.w	r7, [sp, #56]
	ldr.w	lr, [sp, #132]
	ldr.w	r7, [sp, #60]
	row	lr, r8, r9, r10, r11, r12, r6, r7
	str.w	r8, [sp, #60]
	ldr.w	lr, [sp, #136]
	ldr.w	r8, [sp, #64]
	row	lr, r9, r10, r11, r12, r6, r7, r8
	str.w	r9, [sp, #64]
	ldr.w	lr, [sp, #140]
	ldr.w	r9, [sp, #68]
	row	lr, r10, r11, r12, r6, r7, r8, r9
	str.w	r10, [sp, #68]
	str.w	r11, [sp, #72]
	str.w	r12, [sp, #76]
	str.w	r6, [sp, #80]
	str.w	r7, [sp, #84]
	str.w	r8, [sp, #88]
	str.w	r9, [sp, #92]
	b.w	ws_p384_reduce
	.size	ws_p384_multiply, . - ws_p384_multiply

@ Columns `even` and the one above it of t: a^2 of one word of a, and twice what the columns have.
@ In: r0 the word, r12 2, lr the carry. 9 cycles.
.macro	two_columns	word, even
	umull	r6, r7, \word, \word
	ldr.w	r8, [sp, #4 * \even]
	ldr.w	r9, [sp, #4 * \even + 4]
	umaal	r6, lr, r8, r12
	umaal	r7, lr, r9, r12
	str.w	r6, [sp, #4 * \even]
	str.w	r7, [sp, #4 * \even + 4]
.endm

@ void ws_p384_square(ws_p384_element *r, const ws_p384_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 188 bytes. 515 cycles. The products of two different words, those of the low six among
@ themselves and with the high six, then those of the high six; all is doubled when squares are
@ added.
	.section .text.ws_p384_square, "ax", %progbits
	.balign	8
	.global	ws_p384_square
	.type	ws_p384_square, %function
	.thumb_func
ws_p384_square:
	push.w	{r4-r11, lr}
	push.w	{r0, r1}
	sub.w	sp, sp, #144
	ldr.w	r2, [r1, #24]
	ldr.w	r3, [r1, #28]
	ldr.w	r4, [r1, #32]
	ldr.w	r5, [r1, #36]
	ldr.w	r6, [r1, #40]
	ldr.w	r7, [r1, #44]
	add.w	r12, sp, #OPERAND
	stmia.w	r12, {r2-r7}
	ldmia.w	r1, {r0-r5}
	umull	r6, r7, r0, r1
	str.w	r6, [sp, #4]
	mov.w	r8, #0
	mov.w	r9, #0
	umaal	r7, r8, r0, r2
	umaal	r9, r8, r1, r2
	str.w	r7, [sp, #8]
	mov.w	r10, #0
	mov.w	r11, #0
	umaal	r9, r10, r0, r3
	umaal	r8, r10, r1, r3
	umaal	r11, r10, r2, r3
	str.w	r9, [sp, #12]
	mov.w	r12, #0
	mov.w	lr, #0
	umaal	r8, r12, r0, r4
	umaal	r11, r12, r1, r4
	umaal	r10, r12, r2, r4
	umaal	lr, r12, r3, r4
	str.w	r8, [sp, #16]
	mov.w	r6, #0
	mov.w	r7, #0
	umaal	r11, r6, r0, r5
	umaal	r10, r6, r1, r5
	umaal	lr, r6, r2, r5
	umaal	r12, r6, r3, r5
	umaal	r7, r6, r4, r5
	str.w	r11, [sp, #20]
	ldr.w	r9, [sp, #96]
	mov.w	r8, #0
	mov.w	r11, #0
	row	r9, r10, lr, r12, r7, r6, r8, r11
	str.w	r10, [sp, #24]
	ldr.w	r10, [sp, #100]
	mov.w	r9, #0
	row	r10, lr, r12, r7, r6, r8, r11, r9
	str.w	lr, [sp, #28]
	ldr.w	lr, [sp, #104]
	mov.w	r10, #0
	row	lr, r12, r7, r6, r8, r11, r9, r10
	str.w	r12, [sp, #32]
	ldr.w	lr, [sp, #108]
	mov.w	r12, #0
	row	lr, r7, r6, r8, r11, r9, r10, r12
	str.w	r7, [sp, #36]
	ldr.w	lr, [sp, #112]
	mov.w	r7, #0
	row	lr, r6, r8, r11, r9, r10, r12, r7
	str.w	r6, [sp, #40]
	ldr.w	lr, [sp, #116]
	mov.w	r6, #0
	row	lr, r8, r11, r9, r10, r12, r7, r6
	str.w	r8, [sp, #44]
	str.w	r11, [sp, #48]
	add.w	r5, sp, #OPERAND
	ldmia.w	r5, {r0-r5}
	mov.w	r8, #0
	umaal	r9, r8, r0, r1
	str.w	r9, [sp, #52]
	umaal	r10, r8, r0, r2
	umaal	r12, r8, r1, r2
	str.w	r10, [sp, #56]
	mov.w	lr, #0
	umaal	r12, lr, r0, r3
	umaal	r7, lr, r1, r3
	umaal	r6, lr, r2, r3
	str.w	r12, [sp, #60]
	mov.w	r11, #0
	umaal	r7, r8, r0, r4
	umaal	r6, r8, r1, r4
	umaal	lr, r8, r2, r4
	umaal	r11, r8, r3, r4
	str.w	r7, [sp, #64]
	mov.w	r9, #0
	mov.w	r10, #0
	umaal	r6, r9, r0, r5
	umaal	lr, r9, r1, r5
	umaal	r11, r9, r2, r5
	umaal	r8, r9, r3, r5
	umaal	r10, r9, r4, r5
	str.w	r6, [sp, #68]
	str.w	lr, [sp, #72]
	str.w	r11, [sp, #76]
	str.w	r8, [sp, #80]
	str.w	r10, [sp, #84]
	str.w	r9, [sp, #88]
	mov.w	r6, #0
	str.w	r6, [sp, #0]
	str.w	r6, [sp, #92]
	ldr.w	r5, [sp, #A_POINTER]
	ldmia.w	r5, {r0-r5}
	mov.w	r12, #2
	mov.w	lr, #0
	two_columns	r0, 0
	two_columns	r1, 2
	two_columns	r2, 4
	two_columns	r3, 6
	two_columns	r4, 8
	two_columns	r5, 10
	add.w	r5, sp, #OPERAND
	ldmia.w	r5, {r0-r5}
	two_columns	r0, 12
	two_columns	r1, 14
	two_columns	r2, 16
	two_columns	r3, 18
	two_columns	r4, 20
	two_columns	r5, 22
	b.w	ws_p384_reduce
	.size	ws_p384_square, . - ws_p384_square

@ r2 to r9 and then r10 to r12, lr: the number at r1 plus or minus (`first` and `then` are ADDS and
@ ADCS, or SUBS and SBCS) the one at r2. Clobbers r0, r1. 36 cycles.
.macro	combine	first, then
	mov.w	lr, r2
	ldmia.w	r1!, {r2-r5}
	ldmia.w	lr!, {r6-r9}
	\first\().w	r2, r2, r6
	\then\().w	r3, r3, r7
	\then\().w	r4, r4, r8
	\then\().w	r5, r5, r9
	ldmia.w	r1!, {r6-r9}
	ldmia.w	lr!, {r0, r10, r11, r12}
	\then\().w	r6, r6, r0
	\then\().w	r7, r7, r10
	\then\().w	r8, r8, r11
	\then\().w	r9, r9, r12
	ldr.w	r10, [r1]
	ldr.w	r11, [r1, #4]
	ldr.w	r12, [r1, #8]
	ldr.w	r1, [r1, #12]
	ldr.w	r0, [lr]
	\then\().w	r10, r10, r0
	ldr.w	r0, [lr, #4]
	\then\().w	r11, r11, r0
	ldr.w	r0, [lr, #8]
	\then\().w	r12, r12, r0
	ldr.w	r0, [lr, #12]
	\then\().w	lr, r1, r0
.endm

@ void ws_p384_add(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 40 bytes. 112 cycles. The sum, plus 2^384 - p, plus p if that had no carry.
	.section .text.ws_p384_add, "ax", %progbits
	.balign	4
	.global	ws_p384_add
	.type	ws_p384_add, %function
	.thumb_func
ws_p384_add:
	push.w	{r4-r11, lr}
	str.w	r0, [sp, #-4]!
	combine	adds, adcs
	save_carry	r1
	adds.w	r2, r2, #1
	sbcs.w	r3, r3, #0
	sbcs.w	r4, r4, #0
	adcs.w	r5, r5, #0
	adcs.w	r6, r6, #1
	.irp	word, r7, r8, r9, r10, r11, r12, lr
	adcs.w	\word, \word, #0
	.endr
	adc.w	r1, r1, #0
	plus_p	r1
	ldr.w	r0, [sp], #4
	stmia.w	r0, {r2-r12, lr}
	pop.w	{r4-r11, pc}
	.size	ws_p384_add, . - ws_p384_add

@ void ws_p384_subtract(ws_p384_element *r, const ws_p384_element *a,
@                       const ws_p384_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 40 bytes. 99 cycles. The difference, plus p if it is negative.
	.section .text.ws_p384_subtract, "ax", %progbits
	.balign	4
	.global	ws_p384_subtract
	.type	ws_p384_subtract, %function
	.thumb_func
ws_p384_subtract:
	push.w	{r4-r11, lr}
	str.w	r0, [sp, #-4]!
	combine	subs, sbcs
	save_carry	r1
	plus_p	r1
	ldr.w	r0, [sp], #4
	stmia.w	r0, {r2-r12, lr}
	pop.w	{r4-r11, pc}
	.size	ws_p384_subtract, . - ws_p384_subtract

@ void ws_p384_halve(ws_p384_element *a)
@ In: r0 a, aligned to 4. Out: none; a is written. Clobbers r0-r3, r12, flags. Stack: 36 bytes.
@ 77 cycles. p is added if a is odd, and the sum goes one place down from its carry on.
	.section .text.ws_p384_halve, "ax", %progbits
	.balign	4
	.global	ws_p384_halve
	.type	ws_p384_halve, %function
	.thumb_func
ws_p384_halve:
	push.w	{r4-r11, lr}
	ldmia.w	r0, {r2-r12, lr}
	and.w	r1, r2, #1
	rsb.w	r1, r1, #0
	plus_p	r1
	.irp	word, lr, r12, r11, r10, r9, r8, r7, r6, r5, r4, r3, r2
	rrxs.w	\word, \word
	.endr
	stmia.w	r0, {r2-r12, lr}
	pop.w	{r4-r11, pc}
	.size	ws_p384_halve, . - ws_p384_halve
