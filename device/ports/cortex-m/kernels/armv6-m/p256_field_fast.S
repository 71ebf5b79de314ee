@ The field of P-256 for ARMv6-M (Cortex-M0): p256_field.h's four functions.
@
@ Constant time: no branch, no address and no instruction's duration depends on an element.
@
@ Products by Karatsuba's method, 256 to 128 to 64 bits, in field_256.inc. The reduction is Montgomery's: p is -1 modulo
@ 2^96, so that adding t p at t's place clears t, be it 96 bits long, and needs no multiplication:
@
@	t p = -t + 2^96 t + 2^192 (2^64 - 2^32 + 1) t.

	.syntax unified
	.thumb

#define FUNCTION(name) ws_p256_ ## name

#include "field_256.inc"

@ ------------------------------------------------------------------ reduction

@ r6:r5:r4:r3:r0 = (2^64 - 2^32 + 1) t, for t = r2:r1:r0. r7 = 0.
.macro	times_2_64_less_2_32_plus_1
	movs	r7, #0
	rsbs	r3, r0, #0
	mov	r4, r0
	sbcs	r4, r1
	mov	r5, r1
	sbcs	r5, r2
	mov	r6, r2
	sbcs	r6, r7
	adds	r3, r1
	adcs	r4, r2
	adcs	r5, r7
	adcs	r6, r7
.endm

@ x += word i of T, and the carry; or y, a high register. Clobbers r7.
.macro	add_word x, i
	ldr	r7, [sp, #T + 4 * \i]
	adcs	\x, r7
.endm
.macro	add_high x, y
	mov	r7, \y
	adcs	\x, r7
.endm

@ The end of a product: L in T's lower half, H in its upper half and, from the third word on, in r4-r7, r0, r1. Karatsuba's
@ method, as in combine_64, and the reduction together, because what the first three words add when they are cleared is
@ again words of L. To the element at [sp, #R], reduced; then leaves the caller's frame. It is called, not
@ jumped to, because a jump does not reach far enough.
	.section .text.ws_p256_reduce, "ax", %progbits
	.balign	4
	.type	ws_p256_reduce, %function
	.thumb_func
ws_p256_reduce:
	join_middle
	add	r2, sp, #T + 48
	ldmia	r2!, {r0, r1}
	adds	r4, r0
	adcs	r5, r1
	ldmia	r2!, {r0, r1}
	adcs	r6, r0
	adcs	r7, r1
	@ One more, to be taken off in the end: what is carried is then 0 to 3.
	movs	r0, #1
	adcs	r3, r0
	str	r3, [sp, #CARRIED]
	add	r2, sp, #T + 32
	stmia	r2!, {r4-r7}
	@ t = words 0 to 2. Words 3 to 5 come out in r12, r7, r1, words 6 to 10 in r2-r6, and r0 a carry into word 11.
	mov	r0, sp
	ldmia	r0, {r0-r2}
	times_2_64_less_2_32_plus_1
	ldr	r7, [sp, #T + 12]
	adds	r7, r0
	mov	r12, r7
	mov	r7, r0
	adcs	r7, r1
	adcs	r1, r2
	adcs	r2, r0
	ldr	r0, [sp, #T + 12]
	adcs	r3, r0
	movs	r0, #0
	adcs	r4, r0
	adcs	r5, r0
	adcs	r6, r0
	mov	r0, r8
	adds	r7, r0
	mov	r0, r9
	adcs	r1, r0
	mov	r0, r10
	adcs	r2, r0
	mov	r0, r11
	adcs	r3, r0
	ldr	r0, [sp, #T + 32]
	adcs	r4, r0
	ldr	r0, [sp, #T + 36]
	adcs	r5, r0
	ldr	r0, [sp, #T + 40]
	adcs	r6, r0
	movs	r0, #0
	adcs	r0, r0
	@ t = words 3 to 5. Words 6 and 7 come out in r8, r1, words 8 to 13 in r2, r0, r3-r6, and r7 a carry into word 14.
	mov	r9, r2
	mov	r2, r1
	mov	r1, r7
	mov	r8, r0
	mov	r0, r12
	mov	r10, r3
	mov	r11, r4
	mov	r12, r5
	mov	lr, r6
	times_2_64_less_2_32_plus_1
	mov	r7, r8
	adds	r4, r7
	ldr	r7, [sp, #CARRIED]
	adcs	r5, r7
	movs	r7, #0
	adcs	r6, r7
	mov	r7, r9
	adds	r7, r0
	mov	r8, r7
	add_high r1, r10
	add_high r2, r11
	add_high r0, r12
	add_high r3, lr
	add_word r4, 11
	add_word r5, 12
	add_word r6, 13
	movs	r7, #0
	adcs	r7, r7
	@ t = words 6 and 7. Words 8 to 11 come out in r9, r11, r12, lr, words 12 to 15 in r5, r6, r3, r4, r7 a carry.
	mov	r9, r2
	mov	r10, r7
	mov	r2, r8
	movs	r7, #0
	adds	r0, r2
	adcs	r3, r1
	adcs	r4, r7
	mov	r11, r0
	mov	r12, r3
	mov	lr, r4
	adcs	r7, r7
	mov	r8, r7
	movs	r7, #0
	rsbs	r0, r2, #0
	mov	r3, r2
	sbcs	r3, r1
	mov	r4, r1
	sbcs	r4, r7
	adds	r0, r1
	adcs	r3, r7
	adcs	r4, r7
	mov	r1, r10
	adds	r3, r1
	adcs	r4, r7
	mov	r1, r8
	lsrs	r1, r1, #1
	adcs	r5, r2
	adcs	r6, r0
	ldr	r1, [sp, #T + 56]
	adcs	r3, r1
	ldr	r1, [sp, #T + 60]
	adcs	r4, r1
	adcs	r7, r7
	@ Minus p = (2^32 - 1) 2^224 + 2^192 + (2^96 - 1), and minus the one, which is 2^128 here; r7 = all ones if that is
	@ negative, else 0.
	movs	r2, #0
	mvns	r2, r2
	movs	r1, #1
	mov	r0, r9
	subs	r0, r2
	mov	r9, r0
	mov	r0, r11
	sbcs	r0, r2
	mov	r11, r0
	mov	r0, r12
	sbcs	r0, r2
	mov	r12, r0
	mov	r0, lr
	mvns	r2, r2
	sbcs	r0, r2
	mov	lr, r0
	sbcs	r5, r1
	sbcs	r6, r2
	sbcs	r3, r1
	mvns	r0, r2
	sbcs	r4, r0
	sbcs	r7, r2
	@ Plus p, if so.
	ldr	r2, [sp, #R]
	mov	r0, r9
	adds	r0, r7
	mov	r1, r11
	adcs	r1, r7
	stmia	r2!, {r0, r1}
	mov	r0, r12
	adcs	r0, r7
	stmia	r2!, {r0}
	movs	r1, #0
	mov	r0, lr
	adcs	r0, r1
	adcs	r5, r1
	adcs	r6, r1
	stmia	r2!, {r0, r5, r6}
	movs	r0, #1
	ands	r0, r7
	adcs	r3, r0
	adcs	r4, r7
	stmia	r2!, {r3, r4}
	epilogue	FRAME
	.size	ws_p256_reduce, . - ws_p256_reduce

@ ------------------------------------------------------------------ sum, difference

@ What combine_elements leaves, plus p if r1 is all ones and not if it is 0, to the element at [sp]; returns.
.macro	add_p_and_return
	ldr	r2, [sp]
	adds	r3, r1
	stmia	r2!, {r3}
	mov	r3, r12
	adcs	r3, r1
	adcs	r4, r1
	stmia	r2!, {r3, r4}
	mov	r3, lr
	movs	r4, #0
	adcs	r3, r4
	adcs	r5, r4
	adcs	r6, r4
	stmia	r2!, {r3, r5, r6}
	movs	r3, #1
	ands	r3, r1
	adcs	r0, r3
	adcs	r7, r1
	stmia	r2!, {r0, r7}
	pop	{r3-r7, pc}
.endm

@ void ws_p256_add(r0: r, r1: a, r2: b). a + b - p, and plus p if that is negative.
@ 104 cycles, 28 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_p256_add, "ax", %progbits
	.balign	4
	.global	ws_p256_add
	.type	ws_p256_add, %function
	.thumb_func
ws_p256_add:
	push	{r0, r4-r7, lr}
	combine_elements adds, adcs
	movs	r1, #0
	adcs	r1, r1
	push	{r1}
	@ Minus p: as 2^96 - 1 is at its low end, 1 is added there, and the carry is a borrow's absence.
	movs	r2, #0
	adds	r3, #1
	mov	r1, r12
	adcs	r1, r2
	mov	r12, r1
	adcs	r4, r2
	mov	r1, lr
	sbcs	r1, r2
	mov	lr, r1
	sbcs	r5, r2
	sbcs	r6, r2
	movs	r1, #1
	sbcs	r0, r1
	mvns	r1, r2
	sbcs	r7, r1
	pop	{r1}
	sbcs	r1, r2
	add_p_and_return
	.size	ws_p256_add, . - ws_p256_add

@ void ws_p256_subtract(r0: r, r1: a, r2: b). a - b, and plus p if that is negative.
@ 83 cycles, 24 bytes of stack, without wait states, call included. Clobbers r0-r3, r12.
	.section .text.ws_p256_subtract, "ax", %progbits
	.balign	4
	.global	ws_p256_subtract
	.type	ws_p256_subtract, %function
	.thumb_func
ws_p256_subtract:
	push	{r0, r4-r7, lr}
	combine_elements subs, sbcs
	sbcs	r1, r1
	add_p_and_return
	.size	ws_p256_subtract, . - ws_p256_subtract
