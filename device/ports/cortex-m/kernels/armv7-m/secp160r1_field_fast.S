@ The field of secp160r1 for ARMv7-M (Cortex-M3, M4 and M7): secp160r1_field.h's four functions.
@
@ Constant time: no branch, no address and no instruction's duration depends on an
@ operand.
@
@ 32-bit instructions lie on word boundaries: the third in a row that does not costs a
@ cycle on Cortex-M3 and M4. Single loads and stores stand together, stores first: each but the
@ first then takes one cycle. The cycles given are those without wait states, call included.
@
@ p = 2^160 - k with k = 2^31 + 1, so that 2^160 is k modulo p, and to take p away is to add k and
@ drop the carry, if there is one.

	.syntax unified
	.thumb

@ k. 2 cycles.
.macro	load_k k
	movw	\k, #1
	movt	\k, #0x8000
.endm

@ v0 to v4 less the word t, modulo 2^160. 5 cycles.
.macro	less_word t, v0, v1, v2, v3, v4
	subs.w	\v0, \v0, \t
	sbcs.w	\v1, \v1, #0
	sbcs.w	\v2, \v2, #0
	sbcs.w	\v3, \v3, #0
	sbc.w	\v4, \v4, #0
.endm

@ Stores v0 to v4 at `to`. 5 cycles.
.macro	store_element to, v0, v1, v2, v3, v4
	str.w	\v0, [\to]
	str.w	\v1, [\to, #4]
	str.w	\v2, [\to, #8]
	str.w	\v3, [\to, #12]
	str.w	\v4, [\to, #16]
.endm

#ifdef __ARM_FEATURE_DSP
#include "secp160r1_field_m4.S"
#else
#include "secp160r1_field_m3.S"
#endif

@ ------------------------------------------------------------------ sum, difference

@ r3, r4, r5, r6, r1 = the number at r1 plus or minus (`first` and `then` are ADDS and ADCS, or SUBS and
@ SBCS) that at r2. Clobbers r2, r7, r12. 17 cycles.
.macro	combine first, then
	ldr.w	r3, [r1]
	ldr.w	r4, [r1, #4]
	ldr.w	r5, [r1, #8]
	ldr.w	r6, [r2]
	ldr.w	r7, [r2, #4]
	ldr.w	r12, [r2, #8]
	\first\().w	r3, r3, r6
	\then\().w	r4, r4, r7
	\then\().w	r5, r5, r12
	ldr.w	r6, [r1, #12]
	ldr.w	r1, [r1, #16]
	ldr.w	r7, [r2, #12]
	ldr.w	r2, [r2, #16]
	\then\().w	r6, r6, r7
	\then\().w	r1, r1, r2
.endm

@ void ws_secp160r1_add(ws_secp160r1_element *r, const ws_secp160r1_element *a,
@                       const ws_secp160r1_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 16 bytes. 51 cycles. The sum plus k, and k off again if neither had a carry.
	.section .text.ws_secp160r1_add, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_add
	.type	ws_secp160r1_add, %function
	.thumb_func
ws_secp160r1_add:
	push.w	{r4-r7}
	combine	adds, adcs
	sbc.w	r2, r2, r2
	load_k	r12
	adds.w	r3, r3, r12
	adcs.w	r4, r4, #0
	adcs.w	r5, r5, #0
	adcs.w	r6, r6, #0
	adcs.w	r1, r1, #0
	adc.w	r2, r2, #0
	and.w	r2, r2, r12
	less_word	r2, r3, r4, r5, r6, r1
	store_element	r0, r3, r4, r5, r6, r1
	pop.w	{r4-r7}
	bx	lr
	.size	ws_secp160r1_add, . - ws_secp160r1_add

@ void ws_secp160r1_subtract(ws_secp160r1_element *r, const ws_secp160r1_element *a,
@                            const ws_secp160r1_element *b)
@ In: r0 r, r1 a, r2 b, aligned to 4. Out: none; r is written. Clobbers r0-r3, r12, flags.
@ Stack: 16 bytes. 45 cycles. The difference, less k if it is negative.
	.section .text.ws_secp160r1_subtract, "ax", %progbits
	.balign	4
	.global	ws_secp160r1_subtract
	.type	ws_secp160r1_subtract, %function
	.thumb_func
ws_secp160r1_subtract:
	push.w	{r4-r7}
	combine	subs, sbcs
	sbc.w	r2, r2, r2
	load_k	r12
	and.w	r2, r2, r12
	less_word	r2, r3, r4, r5, r6, r1
	store_element	r0, r3, r4, r5, r6, r1
	pop.w	{r4-r7}
	bx	lr
	.size	ws_secp160r1_subtract, . - ws_secp160r1_subtract
