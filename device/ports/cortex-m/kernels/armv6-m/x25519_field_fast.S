@ The field of X25519 for ARMv6-M (Cortex-M0): x25519_field.h's functions but ws_x25519_freeze.
@
@ Constant time: no branch, no address and no instruction's duration depends on an element.
@
@ Products by Karatsuba's method, 256 to 128 to 64 bits, in field_256.inc. Reduction: 2^256 is 38 and 2^255 is 19. What word 7, plus 38 times
@ word 15, has from bit 31 on, times 19, is known first and carried into word 0. So what word 7 takes in the end, below 2^31 without
@ that, needs no reduction again.
@
@ A word times 38 is made of its halves: the products of the lower ones, of 22 bits, are added as they are, those of the upper ones
@ once more, 16 bits up.

	.syntax unified
	.thumb

#define FUNCTION(name) ws_x25519_ ## name

#include "field_256.inc"

@ c:w, w below 2^32 and c small: c = what stands from bit 31 on, times 19; w = what stands below. Clobbers t.
.macro	take_top c, w, t
	lsls	\c, #1
	lsrs	\t, \w, #31
	adds	\c, \t
	lsls	\w, #1
	lsrs	\w, #1
	movs	\t, #19
	muls	\c, \t
.endm

@ ------------------------------------------------------------------ reduction

@ x = r2 times the lower half of word; flags stay.
.macro	lower_half_product x, word
	uxth	\x, \word
	muls	\x, r2
.endm
@ word = r2 times its upper half.
.macro	upper_half_product word
	lsrs	\word, #16
	muls	\word, r2
.endm

@ The end of a product: L in T's lower half, H in its upper half and, from the third word on, in r4-r7, r0, r1. To the
@ element at [sp, #R]; then leaves the caller's frame. It is called, not jumped to, as with P-256.
	.section .text.ws_x25519_reduce, "ax", %progbits
	.balign	4
	.type	ws_x25519_reduce, %function
	.thumb_func
ws_x25519_reduce:
	join_middle
	@ Plus L_l and H_h: words 4 to 7 in r8-r11, 8 to 11 in r4-r7, 12 to 15 on the stack.
	add	r2, sp, #T
	ldmia	r2!, {r0, r1}
	mov	r2, r8
	adds	r0, r2
	mov	r8, r0
	mov	r2, r9
	adcs	r1, r2
	mov	r9, r1
	ldr	r0, [sp, #T + 8]
	mov	r2, r10
	adcs	r0, r2
	mov	r10, r0
	ldr	r0, [sp, #T + 12]
	mov	r2, r11
	adcs	r0, r2
	mov	r11, r0
	ldr	r0, [sp, #T + 48]
	adcs	r4, r0
	ldr	r0, [sp, #T + 52]
	adcs	r5, r0
	ldr	r0, [sp, #T + 56]
	adcs	r6, r0
	ldr	r0, [sp, #T + 60]
	adcs	r7, r0
	movs	r0, #0
	adcs	r3, r0
	asrs	r2, r3, #31
	ldr	r0, [sp, #T + 48]
	adds	r0, r3
	str	r0, [sp, #T + 48]
	ldr	r0, [sp, #T + 52]
	adcs	r0, r2
	str	r0, [sp, #T + 52]
	ldr	r0, [sp, #T + 56]
	adcs	r0, r2
	str	r0, [sp, #T + 56]
	ldr	r0, [sp, #T + 60]
	adcs	r0, r2
	@ Word 15: r0:r1 = 38 r0 + word 7.
	movs	r2, #38
	lower_half_product r1, r0
	upper_half_product r0
	lsls	r3, r0, #16
	lsrs	r0, r0, #16
	adds	r1, r3
	movs	r3, #0
	adcs	r0, r3
	mov	r3, r11
	adds	r1, r3
	movs	r3, #0
	adcs	r0, r3
	take_top r0, r1, r3
	mov	r11, r1
	@ Words 0 to 3 plus the lower halves of 8 to 11, r0 carried in; r12 is carried out.
	lower_half_product r3, r4
	adds	r0, r3
	ldr	r1, [sp, #T]
	adds	r0, r1
	str	r0, [sp, #T]
	lower_half_product r3, r5
	ldr	r1, [sp, #T + 4]
	adcs	r1, r3
	str	r1, [sp, #T + 4]
	lower_half_product r3, r6
	ldr	r1, [sp, #T + 8]
	adcs	r1, r3
	str	r1, [sp, #T + 8]
	lower_half_product r3, r7
	ldr	r1, [sp, #T + 12]
	adcs	r1, r3
	mov	lr, r1
	movs	r3, #0
	adcs	r3, r3
	mov	r12, r3
	@ Plus the upper ones; r3 is carried out.
	upper_half_product r4
	upper_half_product r5
	upper_half_product r6
	upper_half_product r7
	lsrs	r3, r7, #16
	shift_odd_products r1
	ldr	r1, [sp, #T]
	adds	r4, r1
	ldr	r1, [sp, #T + 4]
	adcs	r5, r1
	ldr	r1, [sp, #T + 8]
	adcs	r6, r1
	mov	r1, lr
	adcs	r7, r1
	mov	r1, r12
	adcs	r3, r1
	ldr	r1, [sp, #R]
	stmia	r1!, {r4-r7}
	mov	r12, r1
	@ Words 4 to 7, with 12 to 14, likewise.
	add	r1, sp, #T + 48
	ldmia	r1!, {r4-r6}
	lower_half_product r0, r4
	adds	r3, r0
	mov	r1, r8
	adds	r3, r1
	lower_half_product r0, r5
	mov	r1, r9
	adcs	r1, r0
	mov	r9, r1
	lower_half_product r0, r6
	mov	r1, r10
	adcs	r1, r0
	mov	r10, r1
	mov	r1, r11
	movs	r0, #0
	adcs	r1, r0
	mov	r11, r1
	upper_half_product r4
	upper_half_product r5
	upper_half_product r6
	movs	r7, #0
	shift_odd_products r1
	adds	r4, r3
	mov	r1, r9
	adcs	r5, r1
	mov	r1, r10
	adcs	r6, r1
	mov	r1, r11
	adcs	r7, r1
	mov	r1, r12
	stmia	r1!, {r4-r7}
	epilogue	FRAME
	.size	ws_x25519_reduce, . - ws_x25519_reduce

@ ------------------------------------------------------------------ product with 121665

@ r5:r4 = r3 times 121665 + r4. r6 = 0xdb41, r7 = 0. Clobbers r0, r3. 14 cycles.
.macro	times_121665
	lsls	r0, r3, #16
	lsrs	r5, r3, #16
	adds	r4, r0
	adcs	r5, r7
	lsrs	r0, r3, #16
	muls	r0, r6
	uxth	r3, r3
	muls	r3, r6
	adds	r4, r3
	adcs	r5, r7
	lsls	r3, r0, #16
	lsrs	r0, r0, #16
	adds	r4, r3
	adcs	r5, r0
.endm

@ void ws_x25519_multiply_121665(r0: r, r1: a).
@ 184 cycles, 20 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_x25519_multiply_121665, "ax", %progbits
	.balign	4
	.global	ws_x25519_multiply_121665
	.type	ws_x25519_multiply_121665, %function
	.thumb_func
ws_x25519_multiply_121665:
	push	{r4-r7, lr}
	mov	r2, r0
	ldr	r6, =0xdb41
	movs	r7, #0
	movs	r4, #0
	ldr	r3, [r1, #28]
	times_121665
	take_top r5, r4, r3
	mov	r12, r4
	.irp	at, 0, 4, 8, 12, 16, 20, 24
	mov	r4, r5
	ldr	r3, [r1, #\at]
	times_121665
	str	r4, [r2, #\at]
	.endr
	add	r5, r12
	str	r5, [r2, #28]
	pop	{r4-r7, pc}
	.pool
	.size	ws_x25519_multiply_121665, . - ws_x25519_multiply_121665

@ ------------------------------------------------------------------ sum, difference

@ What combine_elements leaves, plus the number of 256 bits with a sign that is r1 in its lowest word and r2 in all others, to the
@ element at [sp]; returns.
.macro	add_and_return
	adds	r3, r1
	ldr	r1, [sp]
	stmia	r1!, {r3}
	mov	r3, r12
	adcs	r3, r2
	adcs	r4, r2
	stmia	r1!, {r3, r4}
	mov	r3, lr
	adcs	r3, r2
	adcs	r5, r2
	adcs	r6, r2
	stmia	r1!, {r3, r5, r6}
	adcs	r0, r2
	adcs	r7, r2
	stmia	r1!, {r0, r7}
	pop	{r3-r7, pc}
.endm

@ void ws_x25519_add(r0: r, r1: a, r2: b). What the sum has from bit 255 on, 0 to 3, times 19, is added to the rest.
@ 89 cycles, 24 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_x25519_add, "ax", %progbits
	.balign	4
	.global	ws_x25519_add
	.type	ws_x25519_add, %function
	.thumb_func
ws_x25519_add:
	push	{r0, r4-r7, lr}
	combine_elements adds, adcs
	movs	r1, #0
	adcs	r1, r1
	take_top r1, r7, r2
	movs	r2, #0
	add_and_return
	.size	ws_x25519_add, . - ws_x25519_add

@ void ws_x25519_subtract(r0: r, r1: a, r2: b). With t 2^255 + m the difference, t from -2 to 1 and m from 0 up, this is
@ m + 2^255, less 19 (1 - t): below 2^256, and not negative.
@ 90 cycles, 24 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_x25519_subtract, "ax", %progbits
	.balign	4
	.global	ws_x25519_subtract
	.type	ws_x25519_subtract, %function
	.thumb_func
ws_x25519_subtract:
	push	{r0, r4-r7, lr}
	combine_elements subs, sbcs
	sbcs	r1, r1
	lsls	r1, #1
	lsrs	r2, r7, #31
	adds	r1, r2
	subs	r1, #1
	movs	r2, #1
	lsls	r2, #31
	orrs	r7, r2
	movs	r2, #19
	muls	r1, r2
	asrs	r2, r1, #31
	add_and_return
	.size	ws_x25519_subtract, . - ws_x25519_subtract

@ ------------------------------------------------------------------ exchange

@ void ws_x25519_exchange(r0: a, r1: b, r2: swap).
@ 120 cycles, 12 bytes of stack, without wait states, call included. Clobbers r2, r3.
	.section .text.ws_x25519_exchange, "ax", %progbits
	.balign	4
	.global	ws_x25519_exchange
	.type	ws_x25519_exchange, %function
	.thumb_func
ws_x25519_exchange:
	push	{r4, r5, lr}
	rsbs	r2, r2, #0
	.irp	at, 0, 4, 8, 12, 16, 20, 24, 28
	ldr	r3, [r0, #\at]
	ldr	r4, [r1, #\at]
	mov	r5, r3
	eors	r5, r4
	ands	r5, r2
	eors	r3, r5
	eors	r4, r5
	str	r3, [r0, #\at]
	str	r4, [r1, #\at]
	.endr
	pop	{r4, r5, pc}
	.size	ws_x25519_exchange, . - ws_x25519_exchange
