@ Products, sums and exchanges in the field of X25519 for Cortex-M3. x25519_field_fast.S, with the rest of
@ x25519_field.h, includes this file.
@
@ Products are those of P-256 (product_m3.inc). 38 times a word is the sum of the word shifted by 5, by 2 and by 1: their lower and
@ upper words are added in a chain each.

#define FUNCTION(name) ws_x25519_ ## name

@ The end of a product: the words 0 to 3 on the stack at LOW, 4 to 7 in r0, r1, r2, r8, 8 to 11 in r4, r5, r3, r12; 12 to 15 on the
@ stack at COLUMNS, to which comes lr, -1 to 1.
.macro	reduce_and_return
	ldr.w	r6, [sp, #COLUMNS]
	ldr.w	r7, [sp, #COLUMNS + 4]
	ldr.w	r9, [sp, #COLUMNS + 8]
	ldr.w	r10, [sp, #COLUMNS + 12]
	adds.w	r6, r6, lr
	asr.w	lr, lr, #31
	adcs.w	r7, r7, lr
	adcs.w	r9, r9, lr
	adc.w	r10, r10, lr
	@ Word 7, to which comes 38 times word 15; r11 is the carry into word 0.
	lsr.w	r11, r10, #27
	add.w	r11, r11, r10, lsr #30
	add.w	r11, r11, r10, lsr #31
	.irp	shift, 5, 2, 1
	adds.w	r8, r8, r10, lsl #\shift
	adc.w	r11, r11, #0
	.endr
	split	r11, r8, r10
	@ Words 4 to 6, with 12 to 14.
	.irp	shift, 5, 2, 1
	adds.w	r0, r0, r6, lsl #\shift
	adcs.w	r1, r1, r7, lsl #\shift
	adcs.w	r2, r2, r9, lsl #\shift
	adc.w	r8, r8, #0
	adds.w	r1, r1, r6, lsr #(32 - \shift)
	adcs.w	r2, r2, r7, lsr #(32 - \shift)
	adc.w	r8, r8, r9, lsr #(32 - \shift)
	.endr
	@ Words 0 to 3, with 8 to 11; lr is the carry into word 4.
	ldr.w	r6, [sp, #LOW]
	ldr.w	r7, [sp, #LOW + 4]
	ldr.w	r9, [sp, #LOW + 8]
	ldr.w	r10, [sp, #LOW + 12]
	mov.w	lr, #0
	adds.w	r6, r6, r11
	.irp	shift, 5, 2, 1
	.if	\shift == 5
	adcs.w	r7, r7, r4, lsr #(32 - \shift)
	.else
	adds.w	r7, r7, r4, lsr #(32 - \shift)
	.endif
	adcs.w	r9, r9, r5, lsr #(32 - \shift)
	adcs.w	r10, r10, r3, lsr #(32 - \shift)
	adc.w	lr, lr, r12, lsr #(32 - \shift)
	adds.w	r6, r6, r4, lsl #\shift
	adcs.w	r7, r7, r5, lsl #\shift
	adcs.w	r9, r9, r3, lsl #\shift
	adcs.w	r10, r10, r12, lsl #\shift
	adc.w	lr, lr, #0
	.endr
	adds.w	r0, r0, lr
	adcs.w	r1, r1, #0
	adcs.w	r2, r2, #0
	adc.w	r8, r8, #0
	ldr.w	r3, [sp, #RESULT]
	store_element	r6, r7, r9, r10, r0, r1, r2, r8, r3
	add.w	sp, sp, #FRAME + 4
	pop.w	{r4-r11, pc}
.endm

#include "product_m3.inc"

@ ------------------------------------------------------------------ product with 121665

@ c = w times 121665 = 0x1db41, + c, modulo 2^32; h = what is above. factor = 0xdb41. Clobbers w, t. 11 cycles.
.macro	times_121665 w, c, h, factor, t
	uxth.w	\t, \w
	mul	\t, \t, \factor
	lsr.w	\h, \w, #16
	adds.w	\c, \c, \w, lsl #16
	mul	\w, \h, \factor
	adc.w	\h, \h, #0
	adds.w	\c, \c, \t
	adc.w	\h, \h, #0
	adds.w	\c, \c, \w, lsl #16
	adc.w	\h, \h, \w, lsr #16
.endm

@ void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
@ In: r0 r, r1 a, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 131 cycles.
	.section .text.ws_x25519_multiply_121665, "ax", %progbits
	.balign	4
	.global	ws_x25519_multiply_121665
	.type	ws_x25519_multiply_121665, %function
	.thumb_func
ws_x25519_multiply_121665:
	push.w	{r4-r11, lr}
	ldm.w	r1, {r4-r11}
	movw	r2, #0xdb41
	mov.w	r12, #0
	times_121665	r11, r12, r3, r2, lr
	split	r3, r12, lr
	times_121665	r4, r3, r1, r2, lr
	times_121665	r5, r1, r4, r2, lr
	times_121665	r6, r4, r5, r2, lr
	times_121665	r7, r5, r6, r2, lr
	times_121665	r8, r6, r7, r2, lr
	times_121665	r9, r7, r8, r2, lr
	times_121665	r10, r8, r9, r2, lr
	add.w	r12, r12, r9
	store_element	r3, r1, r4, r5, r6, r7, r8, r12, r0
	pop.w	{r4-r11, pc}
	.size	ws_x25519_multiply_121665, . - ws_x25519_multiply_121665

@ ------------------------------------------------------------------ sum

@ void ws_x25519_add(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 78 cycles.
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
	ldr.w	r12, [r2, #8]
	adds.w	r4, r4, r1
	adcs.w	r5, r5, lr
	adcs.w	r6, r6, r12
	ldr.w	r12, [r2, #12]
	ldr.w	r1, [r2, #16]
	ldr.w	lr, [r2, #20]
	ldr.w	r2, [r2, #24]
	adcs.w	r7, r7, r12
	adcs.w	r8, r8, r1
	adcs.w	r9, r9, lr
	adcs.w	r10, r10, r2
	adc.w	r11, r11, #0
	adds.w	r4, r4, r3
	adcs.w	r5, r5, #0
	adcs.w	r6, r6, #0
	adcs.w	r7, r7, #0
	adcs.w	r8, r8, #0
	adcs.w	r9, r9, #0
	adcs.w	r10, r10, #0
	adc.w	r11, r11, #0
	stm.w	r0, {r4-r11}
	pop.w	{r4-r11, pc}
	.size	ws_x25519_add, . - ws_x25519_add

@ ------------------------------------------------------------------ exchange

@ a and b for each other where r2 is all ones, not where it is 0. Clobbers r3. 4 cycles.
.macro	exchange_words a, b
	eor.w	r3, \a, \b
	and.w	r3, r3, r2
	eor.w	\a, \a, r3
	eor.w	\b, \b, r3
.endm

@ void ws_x25519_exchange(ws_x25519_element *a, ws_x25519_element *b, uint8_t swap)
@ In: r0 a, r1 b, aligned to 4, r2 0 or 1. Out: none; a and b are written. Clobbers r0-r3, r12, flags.
@ Stack: 32 bytes. 95 cycles.
	.section .text.ws_x25519_exchange, "ax", %progbits
	.balign	4
	.global	ws_x25519_exchange
	.type	ws_x25519_exchange, %function
	.thumb_func
ws_x25519_exchange:
	push.w	{r4-r11}
	rsb.w	r2, r2, #0
	.rept	2
	ldm.w	r0, {r4-r7}
	ldm.w	r1, {r8-r11}
	exchange_words	r4, r8
	exchange_words	r5, r9
	exchange_words	r6, r10
	exchange_words	r7, r11
	stm.w	r0!, {r4-r7}
	stm.w	r1!, {r8-r11}
	.endr
	pop.w	{r4-r11}
	bx	lr
	.size	ws_x25519_exchange, . - ws_x25519_exchange
