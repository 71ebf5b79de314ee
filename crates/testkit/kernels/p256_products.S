@ The product and the square of P-256's field for Cortex-M4 and M7 as they are written: schedule.py
@ makes of them what p256_field_m4.S has, where their contracts and the reduction are.
@
@ A store directly after a load takes no cycle, and a load directly after a store takes one more:
@ words are loaded first, and the words that they replace are stored then.

	.syntax unified
	.thumb

#include "../../../device/ports/cortex-m/kernels/armv7-m/p256_prime.inc"
#include "../../../device/ports/cortex-m/kernels/armv7-m/store_element.inc"

	.set	FRAME, 48
	@ Of what lies on the stack: m(0) to m(7), before that the columns 4 to 6 and in the end 8 and 9.
	.set	M, 0
	@ Columns 8 to 11 of the first half.
	.set	HIGH, 32
	.set	RESULT, FRAME
	.set	OPERAND, FRAME + 4
	.set	RETURN, FRAME + 8

@ What stands in the columns w0 to w3 and in c, which belongs to the first of them, plus the
@ product of lr and the four words in r3-r6; c becomes the column after w3. 4 cycles.
.macro	row w0, w1, w2, w3, c
	umaal	\w0, \c, r3, lr
	umaal	\w1, \c, r4, lr
	umaal	\w2, \c, r5, lr
	umaal	\w3, \c, r6, lr
.endm

@ The product: r0 r, r1 a, r2 b as above. Out: r0 r. Clobbers all. Stack: 60 bytes. 205 cycles.
@ Rows of four words of a by one word of b, first the low half of a, then the high one. A row's
@ chain of carries starts with room for one word more; that takes nearly all of what the
@ reduction adds to columns below 8. The products by 2^32 - 1 stand as a fifth place in the rows:
@ m(i - 3) in row i, in column i + 4; r12 carries from one to the next. What is
@ missing then, m(2) to m(7) from column 8 and m(5) to m(7) from column 11 on, is added in two
@ chains by the flags, which UMAAL lets be. The second takes p off, too.
	.section .text.ws_p256_multiply_inner, "ax", %progbits
	.balign	4
	.global	ws_p256_multiply_inner
	.type	ws_p256_multiply_inner, %function
	.thumb_func
ws_p256_multiply_inner:
	push.w	{r0, r1, lr}
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
	ldr.w	lr, [r2, #4]
	str.w	r0, [sp, #M]
	mov.w	r10, #0
	row	r12, r7, r8, r9, r10
	ldr.w	lr, [r2, #8]
	str.w	r12, [sp, #M + 4]
	mov.w	r11, #0
	row	r7, r8, r9, r10, r11
	@ m(0) for column 3; m(1), in r12, for column 7.
	ldr.w	lr, [r2, #12]
	str.w	r7, [sp, #M + 8]
	mov.w	r7, r0
	row	r8, r9, r10, r11, r7
	umaal	r7, r12, r0, r1
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [sp, #M + 4]
	str.w	r8, [sp, #M + 12]
	mov.w	r8, r0
	row	r9, r10, r11, r7, r8
	umaal	r8, r12, r0, r1
	ldr.w	lr, [r2, #20]
	ldr.w	r0, [sp, #M + 8]
	str.w	r9, [sp, #M + 16]
	mov.w	r9, r0
	row	r10, r11, r7, r8, r9
	umaal	r9, r12, r0, r1
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [sp, #M + 12]
	str.w	r10, [sp, #M + 20]
	mov.w	r10, r0
	row	r11, r7, r8, r9, r10
	umaal	r10, r12, r0, r1
	ldr.w	lr, [r2, #28]
	ldr.w	r0, [sp, #OPERAND]
	str.w	r11, [sp, #M + 24]
	mov.w	r11, #0
	row	r7, r8, r9, r10, r11

	@ The same from column 4 on with the high half of a. Column 11 is in r11 and in r12.
	ldr.w	r3, [r0, #16]
	ldr.w	r4, [r0, #20]
	ldr.w	r5, [r0, #24]
	ldr.w	r6, [r0, #28]
	ldr.w	lr, [r2]
	str.w	r8, [sp, #HIGH]
	str.w	r9, [sp, #HIGH + 4]
	str.w	r10, [sp, #HIGH + 8]
	str.w	r11, [sp, #HIGH + 12]
	mov.w	r11, #0
	ldr.w	r8, [sp, #M + 16]
	ldr.w	r9, [sp, #M + 20]
	ldr.w	r10, [sp, #M + 24]
	row	r8, r9, r10, r7, r11
	ldr.w	lr, [r2, #4]
	str.w	r8, [sp, #M + 16]
	mov.w	r8, #0
	row	r9, r10, r7, r11, r8
	ldr.w	lr, [r2, #8]
	ldr.w	r0, [sp, #M]
	str.w	r9, [sp, #M + 20]
	row	r10, r7, r11, r8, r0
	ldr.w	lr, [r2, #12]
	ldr.w	r9, [sp, #M + 16]
	str.w	r10, [sp, #M + 24]
	mov.w	r10, r9
	row	r7, r11, r8, r0, r10
	ldr.w	lr, [r2, #16]
	str.w	r7, [sp, #M + 28]
	umaal	r10, r12, r9, r1
	ldr.w	r9, [sp, #M + 20]
	ldr.w	r7, [sp, #HIGH]
	row	r11, r8, r0, r10, r7
	adds.w	r11, r11, r9
	ldr.w	lr, [r2, #20]
	str.w	r11, [sp, #M]
	umaal	r7, r12, r9, r1
	ldr.w	r9, [sp, #M + 24]
	ldr.w	r11, [sp, #HIGH + 4]
	row	r8, r0, r10, r7, r11
	adcs.w	r8, r8, r9
	ldr.w	lr, [r2, #24]
	str.w	r8, [sp, #M + 4]
	umaal	r11, r12, r9, r1
	ldr.w	r9, [sp, #M + 28]
	ldr.w	r8, [sp, #HIGH + 8]
	row	r0, r10, r7, r11, r8
	umaal	r8, r12, r9, r1
	adcs.w	r1, r0, r9
	ldr.w	lr, [r2, #28]
	ldr.w	r2, [sp, #HIGH + 12]
	row	r10, r7, r11, r8, r2

	@ Columns 10 to 15: r1, r10, r7, r11, r8, r2 and r12.
	ldr.w	r3, [sp, #M]
	ldr.w	r4, [sp, #M + 4]
	ldr.w	r5, [sp, #M + 20]
	ldr.w	r6, [sp, #M + 24]
	ldr.w	r0, [sp, #M + 8]
	ldr.w	lr, [sp, #M + 12]
	adcs.w	r10, r10, r5
	adcs.w	r7, r7, r6
	adcs.w	r11, r11, r9
	adcs.w	r8, r8, #0
	adcs.w	r2, r2, r12
	sbc.w	r12, r12, r12
	adds.w	r3, r3, r0
	adcs.w	r4, r4, lr
	ldr.w	r5, [sp, #M + 16]
	ldr.w	r0, [sp, #RESULT]
	ldr.w	lr, [sp, #RETURN]
	adcs.w	r1, r1, r5
	sbcs.w	r10, r10, #0
	less_p_from_4	r7, r11, r8, r2
	adc.w	r12, r12, #0
	@ 2^256 - p is 1 more than what was added: that is in the carry now. The number is not p,
	@ for which this would come too late: it would be a multiple of p made of the product 0.
	cmp.w	r12, #0
	plus_p	adcs, r12, r3, r4, r1, r10, r7, r11, r8, r2
	store_element	r3, r4, r1, r10, r7, r11, r8, r2, r0
	add.w	sp, sp, #FRAME + 12
	bx	lr
	.size	ws_p256_multiply_inner, . - ws_p256_multiply_inner

@ ------------------------------------------------------------------ square

	.set	SQUARE_FRAME, 32
	.set	SQUARE_RESULT, SQUARE_FRAME
	.set	SQUARE_RETURN, SQUARE_FRAME + 4

@ The square: r0 r, r1 a as above. Out: r0 r. Clobbers all. Stack: 40 bytes. 171 cycles.
@ The 28 products of two different words, once each, in rows. Their columns, doubled, come to the
@ squares of the words by UMAAL with 2, which takes the carry along, in r0: one chain through all
@ columns, as they are done. The flags are the chain of what the reduction adds: m(k) to the columns
@ k + 3 and, from column 11 on, k + 6. The products by 2^32 - 1 are a chain of UMAAL, which carries
@ in r4 and begins with m(1), for column 7. m(0) and m(3) begin the square in column 6, m(1) that in
@ column 4. The last chain adds m(2) to m(4) from column 8 on, and takes p off.
	.section .text.ws_p256_square_inner, "ax", %progbits
	.balign	4
	.global	ws_p256_square_inner
	.type	ws_p256_square_inner, %function
	.thumb_func
ws_p256_square_inner:
	push.w	{r0, lr}
	sub.w	sp, sp, #SQUARE_FRAME
	ldmia.w	r1!, {r3-r6}
	mov.w	r9, #0
	mov.w	r10, #0
	mov.w	r11, #0
	mov.w	r12, #0
	mov.w	lr, #2
	umull	r7, r8, r3, r4
	umaal	r8, r9, r3, r5
	umaal	r9, r10, r3, r6
	umaal	r9, r11, r4, r5
	umaal	r10, r11, r4, r6
	umaal	r11, r12, r5, r6
	@ Columns 0 to 3; what is to be doubled in columns 4 to 6 is in r10 to r12.
	umull	r0, r2, r3, r3
	str.w	r0, [sp, #M]
	mov.w	r0, #0
	umaal	r2, r0, r7, lr
	str.w	r2, [sp, #M + 4]
	umull	r2, r7, r4, r4
	umaal	r2, r0, r8, lr
	umaal	r7, r0, r9, lr
	ldr.w	r8, [sp, #M]
	ldr.w	r9, [r1]
	str.w	r2, [sp, #M + 8]
	adds.w	r7, r7, r8
	@ a4; column 4.
	mov.w	r2, #0
	mov.w	r8, #0
	umaal	r10, r2, r3, r9
	umaal	r11, r2, r4, r9
	umaal	r12, r2, r5, r9
	umaal	r2, r8, r6, r9
	ldr.w	r9, [sp, #M + 4]
	str.w	r7, [sp, #M + 12]
	mov.w	r7, #0
	umaal	r9, r7, r5, r5
	umaal	r9, r0, r10, lr
	adcs.w	r9, r9, #0
	@ a5; column 5.
	ldr.w	r10, [r1, #4]
	str.w	r9, [sp, #M + 16]
	mov.w	r9, #0
	umaal	r11, r9, r3, r10
	umaal	r12, r9, r4, r10
	umaal	r2, r9, r5, r10
	umaal	r8, r9, r6, r10
	umaal	r7, r0, r11, lr
	ldr.w	r10, [sp, #M + 8]
	ldr.w	r11, [r1, #8]
	adcs.w	r7, r7, r10
	str.w	r7, [sp, #M + 20]
	@ a6; column 6.
	mov.w	r10, #0
	umaal	r12, r10, r3, r11
	umaal	r2, r10, r4, r11
	umaal	r8, r10, r5, r11
	umaal	r9, r10, r6, r11
	ldr.w	r11, [sp, #M]
	ldr.w	r7, [sp, #M + 12]
	umaal	r11, r7, r6, r6
	umaal	r11, r0, r12, lr
	adcs.w	r11, r11, #0
	@ a7; column 7.
	ldr.w	r12, [r1, #12]
	str.w	r11, [sp, #M + 24]
	mov.w	r11, #0
	umaal	r2, r11, r3, r12
	umaal	r8, r11, r4, r12
	umaal	r9, r11, r5, r12
	umaal	r10, r11, r6, r12
	umaal	r7, r0, r2, lr
	ldr.w	r2, [sp, #M + 16]
	ldr.w	r3, [sp, #M]
	ldr.w	r4, [sp, #M + 4]
	ldr.w	r5, [r1]
	ldr.w	r6, [r1, #4]
	adcs.w	r7, r7, r2
	mov.w	r2, #0xffffffff
	umaal	r7, r4, r3, r2
	@ a4 to a7 are in r5, r6, r3, r12, what is to be doubled in columns 8 to 11 in r8 to r11.
	ldr.w	r3, [r1, #8]
	str.w	r7, [sp, #M + 28]
	mov.w	r1, #0
	umaal	r9, r1, r5, r6
	umaal	r10, r1, r5, r3
	umaal	r11, r1, r5, r12
	umull	r5, r7, r5, r5
	umaal	r5, r0, r8, lr
	mov.w	r8, #0
	umaal	r11, r8, r6, r3
	umaal	r1, r8, r6, r12
	umaal	r7, r0, r9, lr
	mov.w	r9, #0
	umaal	r8, r9, r3, r12
	umull	r6, r2, r6, r6
	umaal	r6, r0, r10, lr
	umaal	r2, r0, r11, lr
	umull	r3, r10, r3, r3
	umaal	r3, r0, r1, lr
	umaal	r10, r0, r8, lr
	umull	r12, r11, r12, r12
	umaal	r12, r0, r9, lr
	add.w	r11, r11, r0

	@ Columns 8 to 15: r5, r7, r6, r2, r3, r10, r12, r11.
	ldr.w	r0, [sp, #M + 4]
	ldr.w	r1, [sp, #M + 8]
	ldr.w	r8, [sp, #M + 12]
	ldr.w	r9, [sp, #M + 16]
	mov.w	lr, #0xffffffff
	umaal	r5, r4, r0, lr
	umaal	r7, r4, r1, lr
	umaal	r6, r4, r8, lr
	umaal	r2, r4, r9, lr
	ldr.w	r0, [sp, #M + 20]
	ldr.w	r1, [sp, #M + 24]
	ldr.w	r8, [sp, #M + 28]
	umaal	r3, r4, r0, lr
	umaal	r10, r4, r1, lr
	umaal	r12, r4, r8, lr
	adcs.w	r5, r5, r0
	adcs.w	r7, r7, r1
	adcs.w	r6, r6, r8
	adcs.w	r2, r2, r0
	adcs.w	r3, r3, r1
	adcs.w	r10, r10, r8
	adcs.w	r12, r12, #0
	adcs.w	r11, r11, r4
	ldr.w	r1, [sp, #M + 8]
	ldr.w	r8, [sp, #M + 12]
	ldr.w	r9, [sp, #M + 16]
	ldr.w	r0, [sp, #SQUARE_RESULT]
	ldr.w	lr, [sp, #SQUARE_RETURN]
	sbc.w	r4, r4, r4
	adds.w	r5, r5, r1
	adcs.w	r7, r7, r8
	adcs.w	r6, r6, r9
	sbcs.w	r2, r2, #0
	less_p_from_4	r3, r10, r12, r11
	adc.w	r4, r4, #0
	@ As in the product.
	cmp.w	r4, #0
	plus_p	adcs, r4, r5, r7, r6, r2, r3, r10, r12, r11
	store_element	r5, r7, r6, r2, r3, r10, r12, r11, r0
	add.w	sp, sp, #SQUARE_FRAME + 8
	bx	lr
	.size	ws_p256_square_inner, . - ws_p256_square_inner
