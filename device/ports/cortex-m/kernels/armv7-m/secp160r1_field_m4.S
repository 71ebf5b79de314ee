@ Products and squares in the field of secp160r1 for Cortex-M4 and M7. secp160r1_field_fast.S, with the
@ rest of secp160r1_field.h, includes this file.
@
@ Constant time: UMULL and UMAAL take a cycle whatever they multiply on Cortex-M4 (ARM DDI 0439, table 3-1), and a
@ time that is always the same on M7 (LLVM's scheduling model, ARMScheduleM7.td).

@ l0 to l4 = (l0 to l4) + 2^160 (h0 to h4) modulo p. The high half times k is added, which leaves a word
@ and a bit, c; then (c + 1) k, which is k too much if there is no carry then. Clobbers k, c,
@ h0, flags. 22 cycles.
.macro	reduce k, c, l0, l1, l2, l3, l4, h0, h1, h2, h3, h4
	load_k	\k
	mov.w	\c, #0
	umaal	\l0, \c, \h0, \k
	umaal	\l1, \c, \h1, \k
	umaal	\l2, \c, \h2, \k
	umaal	\l3, \c, \h3, \k
	umaal	\l4, \c, \h4, \k
	mov.w	\h0, #0
	add.w	\c, \c, #1
	umaal	\l0, \h0, \c, \k
	adds.w	\l1, \l1, \h0
	adcs.w	\l2, \l2, #0
	adcs.w	\l3, \l3, #0
	adcs.w	\l4, \l4, #0
	sbc.w	\c, \c, \c
	and.w	\c, \c, \k
	less_word	\c, \l0, \l1, \l2, \l3, \l4
.endm

@ What stands in the columns w0 to w4 and in c, which belongs to the first of them, plus the
@ product of lr and the five words in r3-r7; c becomes the column after w4. 5 cycles.
.macro	row w0, w1, w2, w3, w4, c
	umaal	\w0, \c, r3, lr
	umaal	\w1, \c, r4, lr
	umaal	\w2, \c, r5, lr
	umaal	\w3, \c, r6, lr
	umaal	\w4, \c, r7, lr
.endm

@ void ws_secp160r1_multiply(ws_secp160r1_element *r, const ws_secp160r1_element *a,
@                            const ws_secp160r1_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 52 bytes. 108 cycles. Rows of a by one word of b each.
	.section .text.ws_secp160r1_multiply, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_multiply
	.type	ws_secp160r1_multiply, %function
	.thumb_func
ws_secp160r1_multiply:
	push.w	{r0, r4-r11, lr}
	sub.w	sp, sp, #12
	ldr.w	lr, [r2]
	ldr.w	r3, [r1]
	ldr.w	r4, [r1, #4]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r1, #12]
	ldr.w	r7, [r1, #16]
	mov.w	r9, #0
	mov.w	r10, #0
	mov.w	r11, #0
	mov.w	r12, #0
	umull	r1, r0, r3, lr
	umaal	r9, r0, r4, lr
	umaal	r10, r0, r5, lr
	umaal	r11, r0, r6, lr
	umaal	r12, r0, r7, lr
	ldr.w	lr, [r2, #4]
	mov.w	r8, #0
	row	r9, r10, r11, r12, r0, r8
	str.w	r9, [sp]
	ldr.w	lr, [r2, #8]
	mov.w	r9, #0
	row	r10, r11, r12, r0, r8, r9
	str.w	r10, [sp, #4]
	ldr.w	lr, [r2, #12]
	mov.w	r10, #0
	row	r11, r12, r0, r8, r9, r10
	str.w	r11, [sp, #8]
	ldr.w	lr, [r2, #16]
	mov.w	r11, #0
	row	r12, r0, r8, r9, r10, r11
	ldr.w	r3, [sp]
	ldr.w	r4, [sp, #4]
	ldr.w	r5, [sp, #8]
	ldr.w	r6, [sp, #12]
	reduce	r2, r7, r1, r3, r4, r5, r12, r0, r8, r9, r10, r11
	store_element	r6, r1, r3, r4, r5, r12
	add.w	sp, sp, #16
	pop.w	{r4-r11, pc}
	.size	ws_secp160r1_multiply, . - ws_secp160r1_multiply

@ void ws_secp160r1_square(ws_secp160r1_element *r, const ws_secp160r1_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 44 bytes. 100 cycles.
	.section .text.ws_secp160r1_square, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_square
	.type	ws_secp160r1_square, %function
	.thumb_func
ws_secp160r1_square:
	push.w	{r0, r4-r11, lr}
	sub.w	sp, sp, #4
	ldr.w	r3, [r1]
	ldr.w	r4, [r1, #4]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r1, #12]
	ldr.w	r7, [r1, #16]
	mov.w	r8, #0
	mov.w	r9, #0
	mov.w	r10, #0
	umull	r1, r2, r3, r4
	umaal	r2, r8, r3, r5
	umaal	r8, r9, r3, r6
	umaal	r9, r10, r3, r7
	umull	r0, r3, r3, r3
	mov.w	r11, #0
	umaal	r8, r11, r4, r5
	umaal	r9, r11, r4, r6
	umaal	r10, r11, r4, r7
	mov.w	r12, #0
	umaal	r10, r12, r5, r6
	umaal	r11, r12, r5, r7
	mov.w	lr, #0
	umaal	r12, lr, r6, r7
	@ Columns 1 to 8, to be doubled: r1, r2, r8, r9, r10, r11, r12, lr. Column 0 is final.
	adds.w	r1, r1, r1
	adcs.w	r2, r2, r2
	adcs.w	r8, r8, r8
	adcs.w	r9, r9, r9
	adcs.w	r10, r10, r10
	adcs.w	r11, r11, r11
	adcs.w	r12, r12, r12
	adcs.w	lr, lr, lr
	str.w	r0, [sp]
	mov.w	r0, #0
	umaal	r1, r3, r0, r0
	umaal	r2, r3, r4, r4
	umaal	r8, r3, r0, r0
	umaal	r9, r3, r5, r5
	umaal	r10, r3, r0, r0
	umaal	r11, r3, r6, r6
	umaal	r12, r3, r0, r0
	umaal	lr, r3, r7, r7
	adc.w	r3, r3, #0
	ldr.w	r0, [sp]
	ldr.w	r4, [sp, #4]
	reduce	r5, r6, r0, r1, r2, r8, r9, r10, r11, r12, lr, r3
	store_element	r4, r0, r1, r2, r8, r9
	add.w	sp, sp, #8
	pop.w	{r4-r11, pc}
	.size	ws_secp160r1_square, . - ws_secp160r1_square
