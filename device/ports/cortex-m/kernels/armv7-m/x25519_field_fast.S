@ The field of X25519 for ARMv7-M (Cortex-M3, M4 and M7): x25519_field.h's functions but
@ ws_x25519_freeze.
@
@ Constant time: no branch, no address and no instruction's duration depends on an operand.
@
@ Reduction: 2^256 is 38 and 2^255 is 19. What there will be from 2^255 on is known before anything
@ is carried: times 19 it is the carry into the lowest word. What the words below carry fits into
@ the highest one, which is below 2^31 then.
@
@ 32-bit instructions lie on word boundaries: the third in a row that does not costs a
@ cycle on Cortex-M3 and M4. Single loads and stores stand together, stores first: each but the
@ first then takes one cycle. The cycles given are those without wait states, call included.

	.syntax unified
	.thumb

#include "x25519_sums.inc"
#include "store_element.inc"

#ifdef __ARM_FEATURE_DSP
#include "x25519_field_m4.S"
#else
#include "x25519_field_m3.S"
#endif

@ ------------------------------------------------------------------ difference

@ void ws_x25519_subtract(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element
@ *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 36 bytes. 78 cycles. With t 2^31 + m the difference of the highest words, t from -2 to 1
@ and m from 0 up, a - b is 2^255 + 2^224 m, less 19 (1 - t), plus the difference of the words
@ below: less than 2^256, and not negative.
	.section .text.ws_x25519_subtract, "ax", %progbits
	.balign	4
	.global	ws_x25519_subtract
	.type	ws_x25519_subtract, %function
	.thumb_func
ws_x25519_subtract:
	push.w	{r4-r11, lr}
	ldm.w	r1, {r4-r11}
	ldr.w	r12, [r2, #28]
	ldr.w	r1, [r2]
	ldr.w	lr, [r2, #4]
	subs.w	r11, r11, r12
	sbc.w	r3, r3, r3
	lsl.w	r3, r3, #1
	add.w	r3, r3, r11, lsr #31
	rsb.w	r3, r3, #1
	add.w	r12, r3, r3, lsl #3
	add.w	r3, r3, r12, lsl #1
	orr.w	r11, r11, #0x80000000
	ldr.w	r12, [r2, #8]
	subs.w	r4, r4, r1
	sbcs.w	r5, r5, lr
	sbcs.w	r6, r6, r12
	ldr.w	r12, [r2, #12]
	ldr.w	r1, [r2, #16]
	ldr.w	lr, [r2, #20]
	ldr.w	r2, [r2, #24]
	sbcs.w	r7, r7, r12
	sbcs.w	r8, r8, r1
	sbcs.w	r9, r9, lr
	sbcs.w	r10, r10, r2
	sbc.w	r11, r11, #0
	subs.w	r4, r4, r3
	sbcs.w	r5, r5, #0
	sbcs.w	r6, r6, #0
	sbcs.w	r7, r7, #0
	sbcs.w	r8, r8, #0
	sbcs.w	r9, r9, #0
	sbcs.w	r10, r10, #0
	sbc.w	r11, r11, #0
	stm.w	r0, {r4-r11}
	pop.w	{r4-r11, pc}
	.size	ws_x25519_subtract, . - ws_x25519_subtract
