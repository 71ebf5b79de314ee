@ Points of Ed25519 for Cortex-M4 and M7: ed25519_law.h's two functions.
@
@ Constant time: branches depend on with_t and on whether there is a `twice` alone.
@
@ The functions that are called here save no register and leave the address of their result in r0.
@ Cycles are those without wait states, call included.

	.syntax unified
	.thumb

#include "x25519_sums.inc"

	@ Of ws_ed25519_sum.
	.set	X, 0
	.set	Y, 32
	.set	Z, 64
	.set	T, 96
	.set	A, 224
	.set	B, 256

#include "sequence.inc"

.macro	multiply r, a, b
	apply	ws_x25519_multiply_inner, \r, \a, \b
.endm

.macro	square r, a
	apply	ws_x25519_square_inner, \r, \a
.endm

@ ------------------------------------------------------------------ field

	.section .text.ws_ed25519_law, "ax", %progbits

@ r0: the sum of the numbers at r1 and r2. 54 cycles.
	.balign	4
	.type	sum, %function
	.thumb_func
sum:
	ldmia.w	r1, {r3-r10}
	add_to	r2, 1, r1
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	sum, . - sum

@ r0: the sum of the number at r1 and twice that at r2. 54 cycles.
	.balign	4
	.type	sum_twice, %function
	.thumb_func
sum_twice:
	ldmia.w	r1, {r3-r10}
	add_to	r2, 2, r1
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	sum_twice, . - sum_twice

@ The numbers at r1 and r1 + 32 go to r0 and r2, changed for each other where the flags GE are set.
@ 55 cycles.
	.balign	4
	.type	exchange, %function
	.thumb_func
exchange:
	.set	PART, 0
	.rept	2
	ldr.w	r3, [r1, #PART]
	ldr.w	r4, [r1, #PART + 4]
	ldr.w	r5, [r1, #PART + 8]
	ldr.w	r6, [r1, #PART + 12]
	ldr.w	r7, [r1, #PART + 32]
	ldr.w	r8, [r1, #PART + 36]
	ldr.w	r9, [r1, #PART + 40]
	ldr.w	r10, [r1, #PART + 44]
	sel	r11, r7, r3
	sel	r7, r3, r7
	sel	r12, r8, r4
	sel	r8, r4, r8
	sel	r3, r9, r5
	sel	r9, r5, r9
	sel	r4, r10, r6
	sel	r10, r6, r10
	str.w	r11, [r0, #PART]
	str.w	r12, [r0, #PART + 4]
	str.w	r3, [r0, #PART + 8]
	str.w	r4, [r0, #PART + 12]
	str.w	r7, [r2, #PART]
	str.w	r8, [r2, #PART + 4]
	str.w	r9, [r2, #PART + 8]
	str.w	r10, [r2, #PART + 12]
	.set	PART, PART + 16
	.endr
	bx	lr
	.size	exchange, . - exchange

@ ------------------------------------------------------------------ points

@ void ws_ed25519_double(ws_ed25519_sum *sum, uint8_t with_t)
@ In: r0 sum, aligned to 4, r1 with_t. Out: none; sum is written. Clobbers r0-r3, r12, flags.
@ Stack: 88 bytes. 1369 cycles, with t 1541. ed25519_law.c's steps.
	.section .text.ws_ed25519_double, "ax", %progbits
	.balign	4
	.global	ws_ed25519_double
	.type	ws_ed25519_double, %function
	.thumb_func
ws_ed25519_double:
	push.w	{r1, r4-r11, lr}
	.set	AT, X
	apply	sum, A, X, Y
	square	A, A
	square	X, X
	square	Y, Y
	square	Z, Z
	apply	sum, B, X, Y
	apply	ws_x25519_subtract_inner, A, B, A
	apply	ws_x25519_subtract_inner, Y, X, Y
	apply	sum_twice, Z, Y, Z
	multiply	X, A, Z
	multiply	Z, Z, Y
	multiply	Y, Y, B
	ldr.w	r3, [sp]
	cmp.w	r3, #0
	beq.w	1f
	multiply	T, A, B
1:	add.w	sp, sp, #4
	pop.w	{r4-r11, pc}
	.size	ws_ed25519_double, . - ws_ed25519_double

	@ Of what lies on the stack.
	.set	Q, 0
	.set	TWICE, 4

@ void ws_ed25519_add(ws_ed25519_sum *sum, const ws_x25519_element q[3],
@                     const ws_x25519_element *twice, uint8_t negative)
@ In: r0 sum, r1 q, r2 twice or 0, all aligned to 4, r3 negative. Out: none; sum is written.
@ Clobbers r0-r3, r12, flags.
@ Stack: 96 bytes. 1834 cycles, without twice 1718. ed25519_law.c's steps.
@ Where Q is taken off, what changes places does it by SEL and the flags GE, which UADD8 sets and
@ nothing else here changes.
	.section .text.ws_ed25519_add, "ax", %progbits
	.balign	4
	.global	ws_ed25519_add
	.type	ws_ed25519_add, %function
	.thumb_func
ws_ed25519_add:
	push.w	{r1-r11, lr}
	rsb.w	r3, r3, #0
	uadd8	r3, r3, r3
	.set	AT, X
	@ y - x and y + x in y and x, what they are multiplied with in a and b.
	add.w	r2, r0, #B
	add.w	r0, r0, #A
	bl	exchange
	.set	AT, A
	apply	ws_x25519_pair_inner, X, Y
	multiply	A, A, Y
	multiply	B, B, X
	ldr.w	r2, [sp, #Q]
	point_to	r1, T
	point_to	r0, T
	.set	AT, T
	add.w	r2, r2, #64
	bl	ws_x25519_multiply_inner
	ldr.w	r2, [sp, #TWICE]
	cmp.w	r2, #0
	beq.w	1f
	point_to	r1, Z
	point_to	r0, Z
	bl	ws_x25519_multiply_inner
	b.w	2f
1:	apply	sum, Z, Z, Z
2:	.set	AT, Z
	@ F and G in z and t, E and H in b and a.
	apply	ws_x25519_pair_inner, T, Z
	point_to	r1, Z
	point_to	r2, T
	point_to	r0, Z
	.set	AT, Z
	bl	exchange
	apply	ws_x25519_pair_inner, A, B
	multiply	X, B, Z
	multiply	Y, A, T
	multiply	Z, Z, T
	multiply	T, A, B
	add.w	sp, sp, #12
	pop.w	{r4-r11, pc}
	.size	ws_ed25519_add, . - ws_ed25519_add
