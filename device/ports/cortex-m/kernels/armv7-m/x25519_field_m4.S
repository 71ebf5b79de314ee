@ Products, sums and exchanges in the field of X25519 for Cortex-M4 and M7. x25519_field_fast.S,
@ with the rest of x25519_field.h, includes this file; ed25519_law_fast.S, x25519_ladder_fast.S and
@ x25519_squares_fast.S call what is `_inner` here.
@
@ Constant time: UMULL, UMLAL and UMAAL take a cycle whatever they multiply on Cortex-M4 (ARM DDI
@ 0439, table 3-1), and a time that is always the same on M7 (LLVM's scheduling model,
@ ARMScheduleM7.td).
@
@ Reduction: what column 7, plus 38 times column 15, has from bit 31 on, times 19, is the carry into
@ column 0, and the columns 0 to 6, plus 38 times the columns 8 to 14, are one chain.

@ ------------------------------------------------------------------ entries

@ A function of x25519_field.h that calls `inner` and saves what that clobbers. 25 cycles beside it.
.macro	entry name, inner
	.section .text.\name, "ax", %progbits
	.balign	4
	.global	\name
	.type	\name, %function
	.thumb_func
\name:
	push.w	{r4-r11, lr}
	bl	\inner
	pop.w	{r4-r11, pc}
	.size	\name, . - \name
.endm

@ The beginning of a function that the kernels call.
.macro	begin_inner name
	.section .text.\name, "ax", %progbits
	.balign	8
	.global	\name
	.hidden	\name
	.type	\name, %function
	.thumb_func
\name:
.endm

@ void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a,
@                         const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 84 bytes. 194 cycles, 122 on Cortex-M7.
	entry	ws_x25519_multiply, ws_x25519_multiply_inner

@ void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 84 bytes. 155 cycles, 99 on Cortex-M7.
	entry	ws_x25519_square, ws_x25519_square_inner

@ ------------------------------------------------------------------ product

@ Order and registers of both were found by crates/testkit/kernels/schedule.py, from
@ x25519_products.S beside it, which has the sources of the lines:
@     schedule.py x25519_products.S --function ws_x25519_multiply_inner --target stm32f767
@         --target stm32f407 --argument 32 --argument 32 --argument 32
@ and the same for ws_x25519_square_inner, with two arguments.

@ The product: r0 r, r1 a, r2 b as above. Out: r0 r. Clobbers all. Stack: 48 bytes. 169 cycles.
	begin_inner	ws_x25519_multiply_inner
	ldr.w	r7, [r2, #4]
	ldr.w	r8, [r2]
	ldmia.w	r1!, {r3, r4, r5, r6}
	push.w	{r0, lr}
	mov.w	r0, #0
	umull	r9, r11, r3, r8
	umaal	r0, r11, r4, r8
	mov.w	r10, #0
	umaal	r10, r11, r5, r8
	mov.w	r12, #0
	umaal	r0, r12, r3, r7
	mov.w	lr, #0
	sub.w	sp, sp, #40
	umaal	lr, r11, r6, r8
	umaal	r10, r12, r4, r7
	umaal	lr, r12, r5, r7
	umaal	r11, r12, r6, r7
	ldr.w	r7, [r2, #12]
	ldr.w	r8, [r2, #8]
	str.w	r9, [sp]
	str.w	r0, [sp, #4]
	mov.w	r0, #0
	umaal	r10, r0, r3, r8
	umaal	lr, r0, r4, r8
	mov.w	r9, #0
	umaal	r11, r0, r5, r8
	umaal	lr, r9, r3, r7
	str.w	lr, [sp, #12]
	umaal	r12, r0, r6, r8
	umaal	r11, r9, r4, r7
	ldr.w	lr, [r2, #16]
	ldr.w	r8, [r2, #20]
	str.w	r10, [sp, #8]
	mov.w	r10, #0
	umaal	r11, r10, r3, lr
	umaal	r12, r9, r5, r7
	umaal	r0, r9, r6, r7
	mov.w	r7, #0
	umaal	r12, r10, r4, lr
	umaal	r0, r10, r5, lr
	umaal	r9, r10, r6, lr
	umaal	r12, r7, r3, r8
	umaal	r0, r7, r4, r8
	mov.w	lr, #0
	str.w	r11, [sp, #16]
	umaal	r9, r7, r5, r8
	umaal	r10, r7, r6, r8
	ldr.w	r8, [r2, #24]
	ldr.w	r11, [r2, #28]
	str.w	r12, [sp, #20]
	umaal	r0, lr, r3, r8
	mov.w	r12, #0
	umaal	r9, lr, r4, r8
	umaal	r10, lr, r5, r8
	umaal	r9, r12, r3, r11
	umaal	r10, r12, r4, r11
	umaal	r7, lr, r6, r8
	umaal	r7, r12, r5, r11
	umaal	lr, r12, r6, r11
	ldr.w	r5, [r1, #8]
	ldr.w	r3, [r1]
	str.w	r12, [sp, #36]
	mov.w	r4, #0
	ldr.w	r6, [r1, #4]
	ldr.w	r1, [r1, #12]
	ldr.w	r11, [sp, #16]
	ldr.w	r8, [r2, #4]
	ldr.w	r12, [r2]
	str.w	lr, [sp, #32]
	mov.w	r10, r10
	ldr.w	lr, [sp, #20]
	str.w	r7, [sp, #28]
	umaal	r11, r4, r3, r12
	mov.w	r7, #0
	umaal	lr, r4, r6, r12
	umaal	r0, r4, r5, r12
	umaal	lr, r7, r3, r8
	str.w	lr, [sp, #20]
	umaal	r0, r7, r6, r8
	umaal	r9, r4, r1, r12
	umaal	r9, r7, r5, r8
	ldr.w	lr, [r2, #8]
	ldr.w	r12, [r2, #12]
	str.w	r11, [sp, #16]
	mov.w	r11, #0
	umaal	r4, r7, r1, r8
	umaal	r0, r11, r3, lr
	umaal	r9, r11, r6, lr
	umaal	r4, r11, r5, lr
	mov.w	r8, #0
	umaal	r7, r11, r1, lr
	umaal	r9, r8, r3, r12
	umaal	r4, r8, r6, r12
	umaal	r7, r8, r5, r12
	umaal	r11, r8, r1, r12
	ldr.w	lr, [r2, #16]
	ldr.w	r12, [r2, #20]
	str.w	r0, [sp, #24]
	umaal	r4, r10, r3, lr
	umaal	r7, r10, r6, lr
	umaal	r11, r10, r5, lr
	umaal	r8, r10, r1, lr
	ldr.w	r0, [sp, #28]
	ldr.w	lr, [r2, #24]
	umaal	r7, r0, r3, r12
	umaal	r11, r0, r6, r12
	umaal	r8, r0, r5, r12
	umaal	r10, r0, r1, r12
	ldr.w	r2, [r2, #28]
	ldr.w	r12, [sp, #32]
	umaal	r11, r12, r3, lr
	umaal	r8, r12, r6, lr
	umaal	r10, r12, r5, lr
	umaal	r0, r12, r1, lr
	ldr.w	lr, [sp, #36]
	umaal	r8, lr, r3, r2
	umaal	r10, lr, r6, r2
	mov.w	r3, #0
	umaal	r0, lr, r5, r2
	mov.w	r5, #38
	umaal	r12, lr, r1, r2
	umaal	r9, r3, lr, r5
	mov.w	r1, r3, lsl #1
	orr.w	r1, r1, r9, lsr #31
	add.w	lr, r1, r1, lsl #3
	add.w	r1, r1, lr, lsl #1
	ldr.w	r2, [sp]
	ldr.w	lr, [sp, #12]
	ldr.w	r6, [sp, #8]
	ldr.w	r3, [sp, #4]
	umaal	r2, r1, r4, r5
	umaal	r3, r1, r7, r5
	umaal	r6, r1, r11, r5
	bic.w	r4, r9, #2147483648
	umaal	lr, r1, r8, r5
	ldr.w	r7, [sp, #40]
	ldr.w	r8, [sp, #20]
	ldr.w	r11, [sp, #24]
	ldr.w	r9, [sp, #16]
	str.w	lr, [r7, #12]
	umaal	r9, r1, r10, r5
	umaal	r8, r1, r0, r5
	umaal	r11, r1, r12, r5
	ldr.w	lr, [sp, #44]
	str.w	r2, [r7]
	str.w	r6, [r7, #8]
	mov.w	r0, r7
	str.w	r9, [r7, #16]
	add.w	r1, r4, r1
	str.w	r3, [r7, #4]
	add.w	sp, sp, #48
	str.w	r8, [r7, #20]
	str.w	r1, [r7, #28]
	str.w	r11, [r7, #24]
	bx	lr
	.size	ws_x25519_multiply_inner, . - ws_x25519_multiply_inner

@ The square: r0 r, r1 a as above. Out: r0 r. Clobbers all. Stack: 48 bytes. 130 cycles.
	begin_inner	ws_x25519_square_inner
	ldmia.w	r1!, {r3, r4, r5, r6}
	push.w	{r0, lr}
	umull	r7, r8, r3, r4
	mov.w	r10, #0
	umull	r0, r2, r3, r3
	mov.w	r9, #0
	mov.w	r11, #0
	umaal	r8, r9, r3, r5
	sub.w	sp, sp, #40
	umaal	r9, r10, r3, r6
	mov.w	r12, #0
	umaal	r9, r12, r4, r5
	mov.w	lr, #2
	umaal	r2, r11, r7, lr
	umaal	r10, r12, r4, r6
	str.w	r2, [sp, #4]
	umull	r2, r7, r4, r4
	umaal	r2, r11, r8, lr
	mov.w	r8, #0
	str.w	r0, [sp]
	umaal	r7, r11, r9, lr
	ldr.w	r9, [r1]
	str.w	r7, [sp, #12]
	str.w	r2, [sp, #8]
	mov.w	r7, #0
	umaal	r10, r7, r3, r9
	umaal	r12, r8, r5, r6
	umaal	r12, r7, r4, r9
	mov.w	r0, #0
	umaal	r8, r7, r5, r9
	umaal	r7, r0, r6, r9
	umull	r2, r9, r5, r5
	umaal	r2, r11, r10, lr
	ldr.w	r10, [r1, #4]
	str.w	r2, [sp, #16]
	mov.w	r2, #0
	umaal	r12, r2, r3, r10
	umaal	r8, r2, r4, r10
	umaal	r7, r2, r5, r10
	umaal	r9, r11, r12, lr
	ldr.w	r12, [r1, #8]
	str.w	r9, [sp, #20]
	mov.w	r9, #0
	umaal	r8, r9, r3, r12
	umaal	r0, r2, r6, r10
	umaal	r7, r9, r4, r12
	umaal	r0, r9, r5, r12
	umaal	r2, r9, r6, r12
	umull	r10, r12, r6, r6
	umaal	r10, r11, r8, lr
	ldr.w	r8, [r1, #12]
	str.w	r10, [sp, #24]
	mov.w	r10, #0
	umaal	r7, r10, r3, r8
	umaal	r0, r10, r4, r8
	umaal	r2, r10, r5, r8
	umaal	r12, r11, r7, lr
	ldmia.w	r1, {r3, r4, r5}
	mov.w	r7, #0
	umaal	r9, r10, r6, r8
	umaal	r2, r7, r3, r4
	umull	r1, r6, r3, r3
	umaal	r9, r7, r3, r5
	umaal	r10, r7, r3, r8
	umaal	r1, r11, r0, lr
	mov.w	r0, #0
	umaal	r10, r0, r4, r5
	umaal	r7, r0, r4, r8
	umaal	r6, r11, r2, lr
	mov.w	r2, #0
	umull	r4, r3, r4, r4
	umaal	r0, r2, r5, r8
	umaal	r4, r11, r9, lr
	umull	r5, r9, r5, r5
	umaal	r3, r11, r10, lr
	umaal	r5, r11, r7, lr
	umaal	r9, r11, r0, lr
	umull	r0, r7, r8, r8
	umaal	r0, r11, r2, lr
	add.w	lr, r7, r11
	mov.w	r2, #0
	mov.w	r7, #38
	umaal	r12, r2, lr, r7
	mov.w	r2, r2, lsl #1
	orr.w	r2, r2, r12, lsr #31
	ldr.w	r8, [sp]
	ldr.w	r10, [sp, #8]
	ldr.w	r11, [sp, #4]
	add.w	lr, r2, r2, lsl #3
	add.w	r2, r2, lr, lsl #1
	umaal	r8, r2, r1, r7
	bic.w	r1, r12, #2147483648
	umaal	r11, r2, r6, r7
	ldr.w	lr, [sp, #12]
	umaal	r10, r2, r4, r7
	umaal	lr, r2, r3, r7
	ldr.w	r3, [sp, #40]
	ldr.w	r4, [sp, #16]
	ldr.w	r6, [sp, #20]
	ldr.w	r12, [sp, #24]
	str.w	r11, [r3, #4]
	umaal	r4, r2, r5, r7
	umaal	r6, r2, r9, r7
	str.w	lr, [r3, #12]
	umaal	r12, r2, r0, r7
	ldr.w	lr, [sp, #44]
	str.w	r10, [r3, #8]
	str.w	r12, [r3, #24]
	add.w	r11, r1, r2
	str.w	r6, [r3, #20]
	add.w	sp, sp, #48
	mov.w	r0, r3
	str.w	r4, [r3, #16]
	str.w	r11, [r3, #28]
	str.w	r8, [r3]
	bx	lr
	.size	ws_x25519_square_inner, . - ws_x25519_square_inner

@ void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 66 cycles. As the product's end, with 121665 for 38 and nothing in the columns
@ below.
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
	store_element	r3, r12, r4, r5, r6, r7, r8, r11, r0
	pop.w	{r4-r11, pc}
	.size	ws_x25519_multiply_121665, . - ws_x25519_multiply_121665

@ ------------------------------------------------------------------ sum

@ void ws_x25519_add(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 71 cycles. As the product's end: b is multiplied with 1, so that UMAAL has room
@ for the carry, too.
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

@ ------------------------------------------------------------------ differences and sums for
@ kernels

@ The number at r1 becomes its difference with that at r0, and that at r0 their sum, which is the
@ difference and twice what was there. Out: r0 as it was. Clobbers all else but sp and lr. 97
@ cycles.
	begin_inner	ws_x25519_pair_inner
	ldmia.w	r1, {r3-r10}
	subtract_from	r0, r2, r11
	stmia.w	r1, {r3-r10}
	add_to	r0, 2, r1, r2
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	ws_x25519_pair_inner, . - ws_x25519_pair_inner

@ r0: the difference of the numbers at r1 and r2. Out: r0 as it was. Clobbers all else but sp and
@ lr. 59 cycles.
	begin_inner	ws_x25519_subtract_inner
	ldmia.w	r1, {r3-r10}
	subtract_from	r2, r1, r11
	stmia.w	r0, {r3-r10}
	bx	lr
	.size	ws_x25519_subtract_inner, . - ws_x25519_subtract_inner

@ ------------------------------------------------------------------ exchange

@ void ws_x25519_exchange(ws_x25519_element *a, ws_x25519_element *b, uint8_t swap)
@ In: r0 a, r1 b, aligned to 4, r2 0 or 1. Out: none; a and b are written. Clobbers r0-r3, r12,
@ flags.
@ Stack: 28 bytes. 78 cycles. SEL selects by the flags GE, into which UADD8 brings the carries of
@ mask + mask.
	.section .text.ws_x25519_exchange, "ax", %progbits
	.balign	4
	.global	ws_x25519_exchange
	.type	ws_x25519_exchange, %function
	.thumb_func
ws_x25519_exchange:
	push.w	{r4-r10}
	rsb.w	r2, r2, #0
	uadd8	r2, r2, r2
	.rept	2
	ldm.w	r0, {r3-r6}
	ldm.w	r1, {r7-r10}
	sel	r2, r7, r3
	sel	r7, r3, r7
	sel	r3, r8, r4
	sel	r8, r4, r8
	sel	r4, r9, r5
	sel	r9, r5, r9
	sel	r5, r10, r6
	sel	r10, r6, r10
	stm.w	r0!, {r2-r5}
	stm.w	r1!, {r7-r10}
	.endr
	pop.w	{r4-r10}
	bx	lr
	.size	ws_x25519_exchange, . - ws_x25519_exchange
