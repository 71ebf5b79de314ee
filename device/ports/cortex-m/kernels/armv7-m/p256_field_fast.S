@ The field of P-256 for ARMv7-M (Cortex-M3, M4 and M7): p256_field.h's four functions.
@
@ Constant time: no branch, no address and no instruction's duration depends on an
@ operand.
@
@ 32-bit instructions lie on word boundaries: the third in a row that does not costs a
@ cycle on Cortex-M3 and M4. Single loads and stores stand together, stores first: each but the
@ first then takes one cycle. The cycles given are those without wait states, call included.

	.syntax unified
	.thumb

#include "p256_prime.inc"
#include "store_element.inc"

#ifdef __ARM_FEATURE_DSP
#include "p256_field_m4.S"
#else
#include "p256_field_m3.S"
#endif

@ ------------------------------------------------------------------ sum, difference

@ v0 to v7 plus or minus (`first` and `then` are ADDS and ADCS, or SUBS and SBCS) the number at
@ r2; v0 to v7 are loaded from r1. v7 is r1, too. Clobbers r2, r12. 27 cycles.
.macro	combine first, then, v0, v1, v2, v3, v4, v5, v6, v7
	ldr.w	\v0, [r1]
	ldr.w	\v1, [r1, #4]
	ldr.w	\v2, [r1, #8]
	ldr.w	\v3, [r1, #12]
	ldr.w	\v4, [r2]
	ldr.w	\v5, [r2, #4]
	ldr.w	\v6, [r2, #8]
	ldr.w	r12, [r2, #12]
	\first\().w	\v0, \v0, \v4
	\then\().w	\v1, \v1, \v5
	\then\().w	\v2, \v2, \v6
	\then\().w	\v3, \v3, r12
	ldr.w	\v4, [r1, #16]
	ldr.w	\v5, [r1, #20]
	ldr.w	\v6, [r2, #16]
	ldr.w	r12, [r2, #20]
	\then\().w	\v4, \v4, \v6
	\then\().w	\v5, \v5, r12
	ldr.w	\v6, [r1, #24]
	ldr.w	\v7, [r1, #28]
	ldr.w	r12, [r2, #24]
	ldr.w	r2, [r2, #28]
	\then\().w	\v6, \v6, r12
	\then\().w	\v7, \v7, r2
.endm

@ void ws_p256_add(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 24 bytes. 71 cycles. The sum, less p, plus p if that is negative.
	.section .text.ws_p256_add, "ax", %progbits
	.balign	4
	.global	ws_p256_add
	.type	ws_p256_add, %function
	.thumb_func
ws_p256_add:
	push.w	{r4-r9}
	combine	adds, adcs, r3, r4, r5, r6, r7, r8, r9, r1
	sbc.w	r2, r2, r2
	adds.w	r3, r3, #1
	adcs.w	r4, r4, #0
	adcs.w	r5, r5, #0
	sbcs.w	r6, r6, #0
	less_p_from_4	r7, r8, r9, r1
	adc.w	r2, r2, #0
	plus_p	adds, r2, r3, r4, r5, r6, r7, r8, r9, r1
	store_element	r3, r4, r5, r6, r7, r8, r9, r1, r0
	pop.w	{r4-r9}
	bx	lr
	.size	ws_p256_add, . - ws_p256_add

@ void ws_p256_subtract(ws_p256_element *r, const ws_p256_element *a,
@                       const ws_p256_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 24 bytes. 62 cycles. The difference, plus p if it is negative.
	.section .text.ws_p256_subtract, "ax", %progbits
	.balign	4
	.global	ws_p256_subtract
	.type	ws_p256_subtract, %function
	.thumb_func
ws_p256_subtract:
	push.w	{r4-r9}
	combine	subs, sbcs, r3, r4, r5, r6, r7, r8, r9, r1
	sbc.w	r2, r2, r2
	plus_p	adds, r2, r3, r4, r5, r6, r7, r8, r9, r1
	store_element	r3, r4, r5, r6, r7, r8, r9, r1, r0
	pop.w	{r4-r9}
	bx	lr
	.size	ws_p256_subtract, . - ws_p256_subtract
