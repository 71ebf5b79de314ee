@ The field of secp160r1 for ARMv6-M (Cortex-M0): secp160r1_field.h's four functions.
@
@ Constant time: no branch, no address and no instruction's duration depends on an element.
@
@ The low 128 bits' product by Karatsuba's method, in product.inc; the words above them by rows. The reduction is
@ 2^160 = 2^31 + 1, twice; and as p = 2^160 - (2^31 + 1), subtracting p is adding 2^31 + 1, and what is carried out tells
@ whether there was a p to subtract.

	.syntax unified
	.thumb

#include "product.inc"

@ ------------------------------------------------------------------ product

@ The frame of a product on the stack.
	.equ	T, 0		@ the product, 10 words
	.equ	FRAME, 40
	.equ	R, 40		@ the arguments
	.equ	A, 44
	.equ	B, 48

@ x, the fifth word of the element whose address is at [sp, #place]: its halves to r8 and r9. Clobbers r0, r1.
.macro	load_fifth_word place
	ldr	r0, [sp, #\place]
	ldr	r0, [r0, #16]
	uxth	r1, r0
	mov	r8, r1
	lsrs	r0, r0, #16
	mov	r9, r0
.endm

@ r6:r5:r4 = x times the words at `at` of the element whose address is at [sp, #place]. Clobbers r0-r3, r7. As
@ multiply_64, with the half as many products.
.macro	multiply_32_by_64 place, at
	locate	r2, \place, \at
	ldmia	r2, {r2, r3}
	uxth	r0, r2
	lsrs	r1, r2, #16
	uxth	r2, r3
	lsrs	r3, r3, #16
	@ Odd.
	mov	r4, r8
	muls	r4, r1
	mov	r5, r8
	muls	r5, r3
	mov	r7, r9
	muls	r7, r0
	adds	r4, r7
	mov	r7, r9
	muls	r7, r2
	adcs	r5, r7
	movs	r6, #0
	adcs	r6, r6
	lsls	r6, #16
	lsrs	r7, r5, #16
	orrs	r6, r7
	lsls	r5, #16
	lsrs	r7, r4, #16
	orrs	r5, r7
	lsls	r4, #16
	@ Even.
	mov	r7, r8
	muls	r0, r7
	muls	r7, r2
	adds	r4, r0
	mov	r0, r9
	muls	r1, r0
	adcs	r5, r1
	muls	r3, r0
	adcs	r6, r3
	adds	r5, r7
	movs	r0, #0
	adcs	r6, r0
.endm

@ r6:r5:r4 += lr.
.macro	add_carried_word
	mov	r0, lr
	adds	r4, r0
	movs	r0, #0
	adcs	r5, r0
	adcs	r6, r0
.endm

@ Adds to two words of T, from the \i-th on, lr and the product of multiply_32_by_64; lr = what is carried. No
@ sum overflows: (2^32 - 1)(2^64 - 1) + (2^64 - 1) + (2^32 - 1) = 2^96 - 1.
.macro	add_product place, at, i
	multiply_32_by_64 \place, \at
	add_carried_word
	ldr	r1, [sp, #T + 4 * \i]
	ldr	r2, [sp, #T + 4 * \i + 4]
	adds	r4, r1
	adcs	r5, r2
	adcs	r6, r0
	str	r4, [sp, #T + 4 * \i]
	str	r5, [sp, #T + 4 * \i + 4]
	mov	lr, r6
.endm

@ void ws_secp160r1_multiply(r0: r, r1: a, r2: b). Four words times four, and two rows.
@ 770 cycles, 88 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_secp160r1_multiply, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_multiply
	.type	ws_secp160r1_multiply, %function
	.thumb_func
ws_secp160r1_multiply:
	prologue	FRAME
	multiply_128 A, 0, B, 0, T
	store_third_word_on T
	load_fifth_word A
	movs	r0, #0
	mov	lr, r0
	add_product B, 0, 4
	add_product B, 8, 6
	mov	r0, lr
	str	r0, [sp, #T + 32]
	load_fifth_word B
	movs	r0, #0
	mov	lr, r0
	add_product A, 0, 4
	add_product A, 8, 6
	@ The fifth words' product, r5:r4, and the two carried words.
	ldr	r0, [sp, #A]
	ldr	r0, [r0, #16]
	uxth	r1, r0
	lsrs	r0, r0, #16
	mov	r4, r8
	mov	r5, r9
	mov	r2, r4
	muls	r2, r0
	mov	r3, r5
	muls	r3, r1
	muls	r4, r1
	muls	r5, r0
	.irp	x, r2, r3
	lsls	r6, \x, #16
	lsrs	\x, \x, #16
	adds	r4, r6
	adcs	r5, \x
	.endr
	mov	r0, lr
	ldr	r1, [sp, #T + 32]
	movs	r2, #0
	adds	r4, r0
	adcs	r5, r2
	adds	r4, r1
	adcs	r5, r2
	add	r0, sp, #T + 32
	stmia	r0!, {r4, r5}
	bl	secp160r1_reduce
	.size	ws_secp160r1_multiply, . - ws_secp160r1_multiply

@ void ws_secp160r1_square(r0: r, r1: a). Four words' square, and one row twice.
@ 513 cycles, 88 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_secp160r1_square, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_square
	.type	ws_secp160r1_square, %function
	.thumb_func
ws_secp160r1_square:
	prologue	FRAME
	square_128 A, 0, T
	store_third_word_on T
	@ The fifth word times those below it: r6:r5:r4:r11:r10.
	load_fifth_word A
	multiply_32_by_64 A, 0
	mov	r10, r4
	mov	r11, r5
	mov	lr, r6
	multiply_32_by_64 A, 8
	add_carried_word
	@ Twice that, r7:r6:r5:r4:r1:r0, and the fifth word's square, r3:r2 to r7:r6.
	mov	r0, r10
	mov	r1, r11
	movs	r7, #0
	adds	r0, r0
	adcs	r1, r1
	adcs	r4, r4
	adcs	r5, r5
	adcs	r6, r6
	adcs	r7, r7
	mov	r10, r0
	mov	r2, r8
	mov	r3, r9
	mov	r0, r2
	muls	r0, r3
	muls	r2, r2
	muls	r3, r3
	adds	r6, r2
	adcs	r7, r3
	lsls	r2, r0, #17
	lsrs	r3, r0, #15
	adds	r6, r2
	adcs	r7, r3
	mov	r0, r10
	ldr	r2, [sp, #T + 16]
	adds	r0, r2
	ldr	r2, [sp, #T + 20]
	adcs	r1, r2
	ldr	r2, [sp, #T + 24]
	adcs	r4, r2
	ldr	r2, [sp, #T + 28]
	adcs	r5, r2
	movs	r2, #0
	adcs	r6, r2
	adcs	r7, r2
	add	r2, sp, #T + 16
	stmia	r2!, {r0, r1, r4-r7}
	bl	secp160r1_reduce
	.size	ws_secp160r1_square, . - ws_secp160r1_square

@ ------------------------------------------------------------------ reduction

@ w4:w3:w2:w1:w0 -= 2^31 + 1 if mask is all ones, and not if it is 0. Clobbers mask, t.
.macro	subtract_2_31_plus_1_if mask, t, w0, w1, w2, w3, w4
	lsrs	\t, \mask, #31
	lsls	\mask, #31
	orrs	\t, \mask
	movs	\mask, #0
	subs	\w0, \t
	.irp	x, \w1, \w2, \w3, \w4
	sbcs	\x, \mask
	.endr
.endm

@ w4:w3:w2:w1:w0 = top:w4:w3:w2:w1:w0, below 2 p, less p if it is not below p. Clobbers top, t.
.macro	subtract_p_once top, t, w0, w1, w2, w3, w4
	movs	\t, #1
	lsls	\t, #31
	adds	\t, #1
	adds	\w0, \t
	movs	\t, #0
	.irp	x, \w1, \w2, \w3, \w4, \top
	adcs	\x, \t
	.endr
	subs	\top, #1
	subtract_2_31_plus_1_if \top, \t, \w0, \w1, \w2, \w3, \w4
.endm

@ The product at T to the element at [sp, #R], reduced; then leaves the caller's frame.
	.section .text.secp160r1_reduce, "ax", %progbits
	.balign	4
	.type	secp160r1_reduce, %function
	.thumb_func
secp160r1_reduce:
	@ h = r4:r3:r2:r1:r0, the words from the sixth on. The low words plus h, r7 the carry.
	add	r0, sp, #T + 20
	ldmia	r0, {r0-r4}
	ldr	r7, [sp, #T]
	adds	r7, r0
	str	r7, [sp, #T]
	.irp	x, 4, 8, 12, 16
	ldr	r7, [sp, #T + \x]
	.if	\x == 4
	adcs	r7, r1
	.elseif	\x == 8
	adcs	r7, r2
	.elseif	\x == 12
	adcs	r7, r3
	.else
	adcs	r7, r4
	.endif
	str	r7, [sp, #T + \x]
	.endr
	movs	r7, #0
	adcs	r7, r7
	@ Plus 2^31 h: r5:r4:r3:r2:r1:r0.
	lsrs	r5, r4, #1
	lsls	r4, #31
	lsrs	r6, r3, #1
	orrs	r4, r6
	lsls	r3, #31
	lsrs	r6, r2, #1
	orrs	r3, r6
	lsls	r2, #31
	lsrs	r6, r1, #1
	orrs	r2, r6
	lsls	r1, #31
	lsrs	r6, r0, #1
	orrs	r1, r6
	lsls	r0, #31
	ldr	r6, [sp, #T]
	adds	r0, r6
	ldr	r6, [sp, #T + 4]
	adcs	r1, r6
	ldr	r6, [sp, #T + 8]
	adcs	r2, r6
	ldr	r6, [sp, #T + 12]
	adcs	r3, r6
	ldr	r6, [sp, #T + 16]
	adcs	r4, r6
	adcs	r5, r7
	@ The sixth word, at most 2^31 + 1, times 2^31 + 1 as r7:r6; then r5 the carry.
	lsls	r6, r5, #31
	lsrs	r7, r5, #1
	adds	r6, r5
	movs	r5, #0
	adcs	r7, r5
	adds	r0, r6
	adcs	r1, r7
	adcs	r2, r5
	adcs	r3, r5
	adcs	r4, r5
	adcs	r5, r5
	subtract_p_once r5, r6, r0, r1, r2, r3, r4
	ldr	r6, [sp, #R]
	stmia	r6!, {r0-r4}
	epilogue	FRAME
	.size	secp160r1_reduce, . - secp160r1_reduce

@ ------------------------------------------------------------------ sum, difference

@ r7:r6:r5:r4:r3 = the sum (`first` adds, `next` adcs) or difference (subs, sbcs) of the elements at r1 and r2.
@ Clobbers r0-r2.
.macro	combine_elements first, next
	ldmia	r1!, {r3-r5}
	ldmia	r2!, {r0, r6, r7}
	\first	r3, r3, r0
	\next	r4, r6
	\next	r5, r7
	ldmia	r1!, {r6, r7}
	ldmia	r2!, {r0, r1}
	\next	r6, r0
	\next	r7, r1
.endm

.macro	store_and_return
	mov	r0, r12
	stmia	r0!, {r3-r7}
	pop	{r4-r7, pc}
.endm

@ void ws_secp160r1_add(r0: r, r1: a, r2: b). a + b, less p if that is not below p.
@ 68 cycles, 20 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_secp160r1_add, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_add
	.type	ws_secp160r1_add, %function
	.thumb_func
ws_secp160r1_add:
	push	{r4-r7, lr}
	mov	r12, r0
	combine_elements adds, adcs
	movs	r1, #0
	adcs	r1, r1
	subtract_p_once r1, r0, r3, r4, r5, r6, r7
	store_and_return
	.size	ws_secp160r1_add, . - ws_secp160r1_add

@ void ws_secp160r1_subtract(r0: r, r1: a, r2: b). a - b, and plus p if that is negative.
@ 56 cycles, 20 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_secp160r1_subtract, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_subtract
	.type	ws_secp160r1_subtract, %function
	.thumb_func
ws_secp160r1_subtract:
	push	{r4-r7, lr}
	mov	r12, r0
	combine_elements subs, sbcs
	sbcs	r1, r1
	subtract_2_31_plus_1_if r1, r0, r3, r4, r5, r6, r7
	store_and_return
	.size	ws_secp160r1_subtract, . - ws_secp160r1_subtract
