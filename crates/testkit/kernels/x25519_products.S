@ The product and the square of X25519's field for Cortex-M4 and M7 as they are written: schedule.py
@ makes of them what x25519_field_m4.S has, where their contracts are.
@
@ A store directly after a load takes no cycle, and a load directly after a store takes one more:
@ words are loaded first, and the words that they replace are stored then.

	.syntax unified
	.thumb

#include "../../../device/ports/cortex-m/kernels/armv7-m/x25519_sums.inc"

@ The beginning of a function.
.macro	begin_inner name
	.section .text.\name, "ax", %progbits
	.balign	4
	.global	\name
	.type	\name, %function
	.thumb_func
\name:
.endm

	@ Of what lies on the stack: columns 0 to 6; columns 9 to 11 of the products with the low half of
	@ a; the result's address; where to return to.
	.set	LOW, 0
	.set	WAITING, 28
	.set	FRAME, 40
	.set	RESULT, FRAME
	.set	RETURN, FRAME + 4

@ What stands in the columns w0 to w3 and in c, which belongs to the first of them, plus the
@ product of b and the four words in r3-r6; c becomes the column after w3. 4 cycles.
.macro	row w0, w1, w2, w3, c, b
	umaal	\w0, \c, r3, \b
	umaal	\w1, \c, r4, \b
	umaal	\w2, \c, r5, \b
	umaal	\w3, \c, r6, \b
.endm

@ The end of both: the columns 0 to 6 stand on the stack, column 7 in l7, the columns 8 to 15 in h0
@ to h6 and lr. Stores the result and returns, with its address in r0. Clobbers all. 39 cycles.
.macro	fold l7, h0, h1, h2, h3, h4, h5, h6, factor, c, t0, t1, t2
	mov.w	\factor, #38
	mov.w	\c, #0
	umaal	\l7, \c, lr, \factor
	split	\c, \l7, lr
	ldr.w	\t0, [sp, #LOW]
	ldr.w	\t1, [sp, #LOW + 4]
	ldr.w	\t2, [sp, #LOW + 8]
	ldr.w	lr, [sp, #LOW + 12]
	umaal	\t0, \c, \h0, \factor
	umaal	\t1, \c, \h1, \factor
	umaal	\t2, \c, \h2, \factor
	umaal	lr, \c, \h3, \factor
	ldr.w	\h3, [sp, #RESULT]
	ldr.w	\h0, [sp, #LOW + 16]
	ldr.w	\h1, [sp, #LOW + 20]
	ldr.w	\h2, [sp, #LOW + 24]
	str.w	lr, [\h3, #12]
	umaal	\h0, \c, \h4, \factor
	umaal	\h1, \c, \h5, \factor
	umaal	\h2, \c, \h6, \factor
	add.w	\l7, \l7, \c
	ldr.w	lr, [sp, #RETURN]
	str.w	\t0, [\h3]
	str.w	\t1, [\h3, #4]
	str.w	\t2, [\h3, #8]
	str.w	\h0, [\h3, #16]
	str.w	\h1, [\h3, #20]
	str.w	\h2, [\h3, #24]
	str.w	\l7, [\h3, #28]
	.ifnc	\h3, r0
	mov.w	r0, \h3
	.endif
	add.w	sp, sp, #FRAME + 8
	bx	lr
.endm

@ The product: r0 r, r1 a, r2 b as above. Out: r0 r. Clobbers all. Stack: 48 bytes. 170 cycles.
@ Rows of four words of a by one word of b, first the low half of a, then the high one. A row's
@ chain of carries starts with room for one word more: that takes what the first half left in
@ columns 8 to 11.
	begin_inner	ws_x25519_multiply_inner
	push.w	{r0, lr}
	sub.w	sp, sp, #FRAME
	ldmia.w	r1!, {r3-r6}
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
	ldr.w	lr, [r2, #8]
	ldr.w	r0, [r2, #12]
	str.w	r7, [sp, #LOW]
	str.w	r8, [sp, #LOW + 4]
	mov.w	r7, #0
	mov.w	r8, #0
	row	r9, r10, r11, r12, r7, lr
	row	r10, r11, r12, r7, r8, r0
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [r2, #20]
	str.w	r9, [sp, #LOW + 8]
	str.w	r10, [sp, #LOW + 12]
	mov.w	r9, #0
	mov.w	r10, #0
	row	r11, r12, r7, r8, r9, lr
	row	r12, r7, r8, r9, r10, r0
	ldr.w	lr, [r2, #24]
	ldr.w	r0, [r2, #28]
	str.w	r11, [sp, #LOW + 16]
	str.w	r12, [sp, #LOW + 20]
	mov.w	r11, #0
	mov.w	r12, #0
	row	r7, r8, r9, r10, r11, lr
	row	r8, r9, r10, r11, r12, r0

	@ Column 8 waits in r1, 9 to 11 on the stack; 6 and 7 stay in r7 and r8.
	ldr.w	r3, [r1]
	ldr.w	r4, [r1, #4]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r1, #12]
	ldr.w	lr, [r2]
	ldr.w	r0, [r2, #4]
	str.w	r10, [sp, #WAITING]
	str.w	r11, [sp, #WAITING + 4]
	str.w	r12, [sp, #WAITING + 8]
	mov.w	r1, r9
	ldr.w	r11, [sp, #LOW + 16]
	ldr.w	r12, [sp, #LOW + 20]
	mov.w	r9, #0
	mov.w	r10, #0
	row	r11, r12, r7, r8, r9, lr
	row	r12, r7, r8, r9, r10, r0
	ldr.w	lr, [r2, #8]
	ldr.w	r0, [r2, #12]
	str.w	r11, [sp, #LOW + 16]
	str.w	r12, [sp, #LOW + 20]
	mov.w	r11, #0
	mov.w	r12, #0
	row	r7, r8, r9, r10, r11, lr
	row	r8, r9, r10, r11, r12, r0
	ldr.w	lr, [r2, #16]
	ldr.w	r0, [r2, #20]
	str.w	r7, [sp, #LOW + 24]
	row	r9, r10, r11, r12, r1, lr
	ldr.w	r7, [sp, #WAITING]
	ldr.w	lr, [r2, #24]
	row	r10, r11, r12, r1, r7, r0
	ldr.w	r0, [r2, #28]
	ldr.w	r2, [sp, #WAITING + 4]
	row	r11, r12, r1, r7, r2, lr
	ldr.w	lr, [sp, #WAITING + 8]
	row	r12, r1, r7, r2, lr, r0

	fold	r8, r9, r10, r11, r12, r1, r7, r2, r3, r0, r4, r5, r6
	.size	ws_x25519_multiply_inner, . - ws_x25519_multiply_inner

@ The square: r0 r, r1 a as above. Out: r0 r. Clobbers all. Stack: 48 bytes. 129 cycles.
@ The 28 products of two different words, once each, in rows as above. Their columns, doubled, come
@ to the squares of the words by UMAAL with 2, which takes the carry along, in r0: one chain through
@ all columns, as they are done.
	begin_inner	ws_x25519_square_inner
	push.w	{r0, lr}
	sub.w	sp, sp, #FRAME
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
	str.w	r0, [sp, #LOW]
	mov.w	r0, #0
	umaal	r2, r0, r7, lr
	str.w	r2, [sp, #LOW + 4]
	umull	r2, r7, r4, r4
	umaal	r2, r0, r8, lr
	umaal	r7, r0, r9, lr
	@ a4; column 4.
	ldr.w	r9, [r1]
	str.w	r2, [sp, #LOW + 8]
	str.w	r7, [sp, #LOW + 12]
	mov.w	r7, #0
	mov.w	r8, #0
	umaal	r10, r7, r3, r9
	umaal	r11, r7, r4, r9
	umaal	r12, r7, r5, r9
	umaal	r7, r8, r6, r9
	umull	r2, r9, r5, r5
	umaal	r2, r0, r10, lr
	@ a5; column 5.
	ldr.w	r10, [r1, #4]
	str.w	r2, [sp, #LOW + 16]
	mov.w	r2, #0
	row	r11, r12, r7, r8, r2, r10
	umaal	r9, r0, r11, lr
	@ a6; column 6.
	ldr.w	r10, [r1, #8]
	str.w	r9, [sp, #LOW + 20]
	mov.w	r9, #0
	row	r12, r7, r8, r2, r9, r10
	umull	r10, r11, r6, r6
	umaal	r10, r0, r12, lr
	@ a7; column 7.
	ldr.w	r12, [r1, #12]
	str.w	r10, [sp, #LOW + 24]
	mov.w	r10, #0
	row	r7, r8, r2, r9, r10, r12
	umaal	r11, r0, r7, lr
	@ a4 to a7 are in r3, r4, r5, r12, what is to be doubled in columns 8 to 11 in r8, r2, r9, r10.
	ldmia.w	r1, {r3-r5}
	mov.w	r7, #0
	umaal	r2, r7, r3, r4
	umaal	r9, r7, r3, r5
	umaal	r10, r7, r3, r12
	umull	r3, r6, r3, r3
	umaal	r3, r0, r8, lr
	umaal	r6, r0, r2, lr
	mov.w	r8, #0
	umaal	r10, r8, r4, r5
	umaal	r7, r8, r4, r12
	mov.w	r2, #0
	umaal	r8, r2, r5, r12
	umull	r4, r1, r4, r4
	umaal	r4, r0, r9, lr
	umaal	r1, r0, r10, lr
	umull	r5, r9, r5, r5
	umaal	r5, r0, r7, lr
	umaal	r9, r0, r8, lr
	umull	r12, r7, r12, r12
	umaal	r12, r0, r2, lr
	add.w	lr, r7, r0
	fold	r11, r3, r6, r4, r1, r5, r9, r12, r7, r0, r2, r8, r10
	.size	ws_x25519_square_inner, . - ws_x25519_square_inner
