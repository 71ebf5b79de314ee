@ Products and squares in the field of P-256 for Cortex-M4 and M7. p256_field_fast.S, with the rest
@ of p256_field.h, includes this file; p256_law_fast.S calls what is `_inner` here.
@
@ Constant time: UMULL and UMAAL take a cycle whatever they multiply on Cortex-M4 (ARM DDI 0439,
@ table 3-1), and a time that is always the same on M7 (LLVM's scheduling model, ARMScheduleM7.td).
@
@ p = 2^256 - 2^224 + 2^192 + 2^96 - 1. Montgomery's reduction adds multiples of p until
@ the low 256 bits are 0. Since p is -1 modulo 2^96, m(k), the multiple that clears column k (the
@ word of weight 2^(32 k)), is that word itself. What m(k) p adds elsewhere is m(k) in
@ the columns k + 3 and k + 6 and, as one product, m(k) (2^32 - 1) in the columns k + 7 and k + 8.
@
@ With WS_SMALL_CACHE the square is the product: on the STM32L4R5, whose instruction cache of 1 kB
@ holds not both, and whose flash has five wait states.

@ ------------------------------------------------------------------ entries

@ A function of p256_field.h that calls `inner` and saves what that clobbers. 25 cycles beside it.
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

@ void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a,
@                       const ws_p256_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 96 bytes. 229 cycles, 141 on Cortex-M7.
	entry	ws_p256_multiply, ws_p256_multiply_inner

@ void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 76 bytes. 196 cycles, 120 on Cortex-M7.
	entry	ws_p256_square, ws_p256_square_inner

@ ------------------------------------------------------------------ product

@ Order and registers of both were found by crates/testkit/kernels/schedule.py, from
@ p256_products.S beside it, which has the sources of the lines:
@     schedule.py p256_products.S --function ws_p256_multiply_inner --target stm32f767
@         --target stm32f407 --argument 32 --argument 32 --argument 32 --generations 60
@ and the same for ws_p256_square_inner, with two arguments.

@ The product: r0 r, r1 a, r2 b as above. Out: r0 r. Clobbers all. Stack: 60 bytes. 204 cycles.
	.section .text.ws_p256_multiply_inner, "ax", %progbits
	.balign	8
#ifdef WS_SMALL_CACHE
	.global	ws_p256_square_inner
	.hidden	ws_p256_square_inner
	.type	ws_p256_square_inner, %function
	.thumb_func
ws_p256_square_inner:
	mov.w	r2, r1
	.size	ws_p256_square_inner, . - ws_p256_square_inner
#endif
	.global	ws_p256_multiply_inner
	.hidden	ws_p256_multiply_inner
	.type	ws_p256_multiply_inner, %function
	.thumb_func
ws_p256_multiply_inner:
	push.w	{r0, r1, lr}
	sub.w	sp, sp, #48
	ldr.w	r3, [r1]
	ldr.w	r6, [r1, #12]
	ldr.w	r5, [r1, #8]
	ldr.w	lr, [r2, #4]
	ldr.w	r0, [r2]
	ldr.w	r4, [r1, #4]
	mov.w	r1, #4294967295
	mov.w	r7, #0
	umull	r8, r9, r3, r0
	mov.w	r12, #0
	umaal	r12, r9, r4, r0
	umaal	r7, r9, r5, r0
	ldr.w	r10, [r2, #8]
	str.w	r8, [sp]
	mov.w	r11, #0
	umaal	r11, r9, r6, r0
	mov.w	r0, #0
	umaal	r12, r0, r3, lr
	umaal	r7, r0, r4, lr
	umaal	r11, r0, r5, lr
	umaal	r9, r0, r6, lr
	mov.w	lr, #0
	umaal	r7, lr, r3, r10
	umaal	r11, lr, r4, r10
	umaal	r9, lr, r5, r10
	umaal	r0, lr, r6, r10
	ldr.w	r10, [r2, #12]
	str.w	r7, [sp, #8]
	str.w	r12, [sp, #4]
	mov.w	r7, r8
	umaal	r11, r7, r3, r10
	umaal	r9, r7, r4, r10
	umaal	r0, r7, r5, r10
	umaal	lr, r7, r6, r10
	umaal	r7, r12, r8, r1
	ldr.w	r8, [r2, #16]
	ldr.w	r10, [sp, #4]
	str.w	r11, [sp, #12]
	mov.w	r11, r10
	umaal	r9, r11, r3, r8
	umaal	r0, r11, r4, r8
	umaal	lr, r11, r5, r8
	umaal	r7, r11, r6, r8
	umaal	r11, r12, r10, r1
	ldr.w	r8, [r2, #20]
	ldr.w	r10, [sp, #8]
	str.w	r9, [sp, #16]
	mov.w	r9, r10
	umaal	r0, r9, r3, r8
	umaal	lr, r9, r4, r8
	umaal	r7, r9, r5, r8
	umaal	r11, r9, r6, r8
	umaal	r9, r12, r10, r1
	ldr.w	r8, [r2, #24]
	ldr.w	r10, [sp, #12]
	str.w	r0, [sp, #20]
	mov.w	r0, r10
	umaal	lr, r0, r3, r8
	umaal	r7, r0, r4, r8
	umaal	r11, r0, r5, r8
	umaal	r9, r0, r6, r8
	umaal	r0, r12, r10, r1
	ldr.w	r8, [r2, #28]
	ldr.w	r10, [sp, #52]
	str.w	lr, [sp, #24]
	mov.w	lr, #0
	umaal	r7, lr, r3, r8
	umaal	r11, lr, r4, r8
	umaal	r9, lr, r5, r8
	umaal	r0, lr, r6, r8
	ldr.w	r8, [sp, #16]
	ldr.w	r4, [r10, #20]
	ldr.w	r5, [r10, #24]
	ldr.w	r3, [r10, #16]
	ldr.w	r6, [r10, #28]
	ldr.w	r10, [r2]
	str.w	r11, [sp, #32]
	str.w	r0, [sp, #40]
	str.w	lr, [sp, #44]
	mov.w	r11, #0
	umaal	r8, r11, r3, r10
	ldr.w	r0, [sp, #20]
	ldr.w	lr, [sp, #24]
	str.w	r9, [sp, #36]
	mov.w	r9, #0
	umaal	r0, r11, r4, r10
	umaal	lr, r11, r5, r10
	umaal	r7, r11, r6, r10
	ldr.w	r10, [r2, #4]
	str.w	r8, [sp, #16]
	umaal	r0, r9, r3, r10
	umaal	lr, r9, r4, r10
	umaal	r7, r9, r5, r10
	umaal	r11, r9, r6, r10
	ldr.w	r8, [r2, #8]
	ldr.w	r10, [sp]
	str.w	r0, [sp, #20]
	umaal	lr, r10, r3, r8
	umaal	r7, r10, r4, r8
	umaal	r11, r10, r5, r8
	umaal	r9, r10, r6, r8
	ldr.w	r0, [r2, #12]
	ldr.w	r8, [sp, #16]
	str.w	lr, [sp, #24]
	mov.w	lr, r8
	umaal	r7, lr, r3, r0
	umaal	r11, lr, r4, r0
	umaal	r9, lr, r5, r0
	umaal	r10, lr, r6, r0
	ldr.w	r0, [r2, #16]
	str.w	r7, [sp, #28]
	umaal	lr, r12, r8, r1
	ldr.w	r7, [sp, #20]
	ldr.w	r8, [sp, #32]
	umaal	r11, r8, r3, r0
	umaal	r9, r8, r4, r0
	umaal	r10, r8, r5, r0
	adds.w	r11, r11, r7
	umaal	lr, r8, r6, r0
	ldr.w	r0, [r2, #20]
	str.w	r11, [sp]
	umaal	r8, r12, r7, r1
	ldr.w	r7, [sp, #24]
	ldr.w	r11, [sp, #36]
	umaal	r9, r11, r3, r0
	umaal	r10, r11, r4, r0
	adcs.w	r9, r9, r7
	umaal	lr, r11, r5, r0
	umaal	r8, r11, r6, r0
	ldr.w	r0, [r2, #28]
	ldr.w	r2, [r2, #24]
	str.w	r9, [sp, #4]
	umaal	r11, r12, r7, r1
	ldr.w	r9, [sp, #28]
	ldr.w	r7, [sp, #40]
	umaal	r10, r7, r3, r2
	umaal	lr, r7, r4, r2
	umaal	r8, r7, r5, r2
	adcs.w	r10, r10, r9
	umaal	r11, r7, r6, r2
	umaal	r7, r12, r9, r1
	ldr.w	r1, [sp, #20]
	ldr.w	r2, [sp, #44]
	umaal	lr, r2, r3, r0
	umaal	r8, r2, r4, r0
	umaal	r11, r2, r5, r0
	adcs.w	r1, lr, r1
	umaal	r7, r2, r6, r0
	ldr.w	r3, [sp]
	ldr.w	r6, [sp, #24]
	ldr.w	r4, [sp, #4]
	ldr.w	r5, [sp, #8]
	ldr.w	lr, [sp, #12]
	ldr.w	r0, [sp, #48]
	adcs.w	r6, r8, r6
	adcs.w	r11, r11, r9
	adcs.w	r8, r7, #0
	adcs.w	r2, r2, r12
	sbc.w	r12, r12, r12
	adds.w	r3, r3, r5
	adcs.w	r4, r4, lr
	ldr.w	r5, [sp, #16]
	ldr.w	lr, [sp, #56]
	adcs.w	r5, r10, r5
	sbcs.w	r10, r1, #0
	sbcs.w	r7, r6, #0
	sbcs.w	r11, r11, #0
	sbcs.w	r8, r8, #1
	adcs.w	r2, r2, #0
	adc.w	r12, r12, #0
	cmp.w	r12, #0
	adcs.w	r3, r3, r12
	str.w	r3, [r0]
	adcs.w	r4, r4, r12
	adcs.w	r1, r5, r12
	adcs.w	r10, r10, #0
	str.w	r10, [r0, #12]
	adcs.w	r7, r7, #0
	str.w	r1, [r0, #8]
	str.w	r4, [r0, #4]
	adcs.w	r11, r11, #0
	adcs.w	r8, r8, r12, lsr #31
	str.w	r7, [r0, #16]
	adc.w	r2, r2, r12
	str.w	r11, [r0, #20]
	str.w	r2, [r0, #28]
	add.w	sp, sp, #60
	str.w	r8, [r0, #24]
	bx	lr
	.size	ws_p256_multiply_inner, . - ws_p256_multiply_inner

#ifndef WS_SMALL_CACHE

@ ------------------------------------------------------------------ square

@ The square: r0 r, r1 a as above. Out: r0 r. Clobbers all. Stack: 40 bytes. 171 cycles.
	.section .text.ws_p256_square_inner, "ax", %progbits
	.balign	8
	.global	ws_p256_square_inner
	.hidden	ws_p256_square_inner
	.type	ws_p256_square_inner, %function
	.thumb_func
ws_p256_square_inner:
	ldmia.w	r1!, {r3, r4, r5, r6}
	push.w	{r0, lr}
	mov.w	r11, #0
	umull	r0, r2, r3, r3
	mov.w	r10, #0
	umull	r7, r8, r3, r4
	mov.w	r9, #0
	umaal	r8, r9, r3, r5
	umaal	r9, r10, r3, r6
	mov.w	r12, #0
	sub.w	sp, sp, #32
	umaal	r9, r11, r4, r5
	str.w	r0, [sp]
	mov.w	lr, #2
	mov.w	r0, #0
	umaal	r2, r0, r7, lr
	umaal	r10, r11, r4, r6
	str.w	r2, [sp, #4]
	umull	r2, r7, r4, r4
	umaal	r2, r0, r8, lr
	umaal	r7, r0, r9, lr
	ldr.w	r8, [sp]
	ldr.w	r9, [r1]
	str.w	r2, [sp, #8]
	umaal	r11, r12, r5, r6
	adds.w	r7, r7, r8
	mov.w	r8, #0
	mov.w	r2, #0
	umaal	r10, r2, r3, r9
	umaal	r11, r2, r4, r9
	umaal	r12, r2, r5, r9
	umaal	r2, r8, r6, r9
	ldr.w	r9, [sp, #4]
	str.w	r7, [sp, #12]
	mov.w	r7, #0
	umaal	r9, r7, r5, r5
	umaal	r9, r0, r10, lr
	adcs.w	r9, r9, #0
	ldr.w	r10, [r1, #4]
	str.w	r9, [sp, #16]
	mov.w	r9, #0
	umaal	r11, r9, r3, r10
	umaal	r12, r9, r4, r10
	umaal	r2, r9, r5, r10
	umaal	r7, r0, r11, lr
	umaal	r8, r9, r6, r10
	ldr.w	r10, [sp, #8]
	ldr.w	r11, [r1, #8]
	adcs.w	r7, r7, r10
	str.w	r7, [sp, #20]
	mov.w	r10, #0
	umaal	r12, r10, r3, r11
	umaal	r2, r10, r4, r11
	umaal	r8, r10, r5, r11
	umaal	r9, r10, r6, r11
	ldr.w	r11, [sp]
	ldr.w	r7, [sp, #12]
	umaal	r11, r7, r6, r6
	umaal	r11, r0, r12, lr
	adcs.w	r11, r11, #0
	ldr.w	r12, [r1, #12]
	str.w	r11, [sp, #24]
	mov.w	r11, #0
	umaal	r2, r11, r3, r12
	umaal	r8, r11, r4, r12
	umaal	r9, r11, r5, r12
	umaal	r10, r11, r6, r12
	umaal	r7, r0, r2, lr
	ldr.w	r2, [sp, #16]
	ldr.w	r4, [sp, #4]
	ldr.w	r3, [sp]
	ldr.w	r6, [r1, #4]
	ldr.w	r5, [r1]
	adcs.w	r7, r7, r2
	mov.w	r2, #4294967295
	umaal	r7, r4, r3, r2
	ldr.w	r3, [r1, #8]
	str.w	r7, [sp, #28]
	mov.w	r1, #0
	mov.w	r2, #0
	umaal	r9, r1, r5, r6
	umaal	r10, r1, r5, r3
	umaal	r11, r1, r5, r12
	umull	r5, r7, r5, r5
	umaal	r5, r0, r8, lr
	mov.w	r8, #0
	umaal	r11, r8, r6, r3
	umaal	r1, r8, r6, r12
	umaal	r7, r0, r9, lr
	umaal	r8, r2, r3, r12
	umull	r6, r9, r6, r6
	umaal	r6, r0, r10, lr
	umaal	r9, r0, r11, lr
	umull	r3, r10, r3, r3
	umaal	r3, r0, r1, lr
	umaal	r10, r0, r8, lr
	umull	r12, r11, r12, r12
	umaal	r12, r0, r2, lr
	ldr.w	r8, [sp, #12]
	ldr.w	r1, [sp, #8]
	ldr.w	r2, [sp, #4]
	ldr.w	lr, [sp, #16]
	add.w	r11, r11, r0
	mov.w	r0, #4294967295
	umaal	r5, r4, r2, r0
	umaal	r7, r4, r1, r0
	umaal	r6, r4, r8, r0
	umaal	r9, r4, lr, r0
	ldr.w	r1, [sp, #20]
	ldr.w	r2, [sp, #24]
	ldr.w	r8, [sp, #28]
	umaal	r3, r4, r1, r0
	adcs.w	r5, r5, r1
	adcs.w	r7, r7, r2
	umaal	r10, r4, r2, r0
	umaal	r12, r4, r8, r0
	adcs.w	r6, r6, r8
	adcs.w	r1, r9, r1
	adcs.w	r3, r3, r2
	adcs.w	r10, r10, r8
	adcs.w	r12, r12, #0
	ldr.w	r2, [sp, #8]
	ldr.w	r8, [sp, #12]
	ldr.w	r9, [sp, #16]
	ldr.w	r0, [sp, #32]
	ldr.w	lr, [sp, #36]
	adcs.w	r11, r11, r4
	sbc.w	r4, r4, r4
	adds.w	r5, r5, r2
	adcs.w	r7, r7, r8
	adcs.w	r6, r6, r9
	sbcs.w	r2, r1, #0
	sbcs.w	r3, r3, #0
	add.w	sp, sp, #40
	sbcs.w	r10, r10, #0
	sbcs.w	r12, r12, #1
	adcs.w	r11, r11, #0
	adc.w	r4, r4, #0
	cmp.w	r4, #0
	adcs.w	r5, r5, r4
	str.w	r5, [r0]
	adcs.w	r7, r7, r4
	str.w	r7, [r0, #4]
	adcs.w	r6, r6, r4
	adcs.w	r2, r2, #0
	str.w	r2, [r0, #12]
	adcs.w	r3, r3, #0
	str.w	r3, [r0, #16]
	str.w	r6, [r0, #8]
	adcs.w	r10, r10, #0
	adcs.w	r12, r12, r4, lsr #31
	str.w	r12, [r0, #24]
	adc.w	r11, r11, r4
	str.w	r10, [r0, #20]
	str.w	r11, [r0, #28]
	bx	lr
	.size	ws_p256_square_inner, . - ws_p256_square_inner
#endif
