@ Products and squares in the field of P-256 for Cortex-M3. p256_field_fast.S, with the rest of
@ p256_field.h, includes this file.

#define FUNCTION(name) ws_p256_ ## name

@ The end of a product: the words 0 to 3 on the stack at LOW, 4 to 7 in r0, r1, r2, r8, 8 to 11 in r4, r5, r3, r12; 12 to 15 on the
@ stack at COLUMNS, to which comes lr, -1 to 1.
.macro	reduce_and_return
	@ Reduction. m(0) to m(3) are the words 0 to 3, to the last of which m(0) has come. What
	@ goes into column 12, from -2 to 3, is in lr.
	ldr.w	r6, [sp, #LOW]
	ldr.w	r7, [sp, #LOW + 4]
	ldr.w	r9, [sp, #LOW + 8]
	ldr.w	r10, [sp, #LOW + 12]
	adds.w	r10, r10, r6
	adcs.w	r0, r0, r7
	adcs.w	r1, r1, r9
	adcs.w	r2, r2, r10
	adcs.w	r8, r8, r7
	adcs.w	r4, r4, r9
	adcs.w	r5, r5, r10
	adcs.w	r3, r3, r9
	adcs.w	r12, r12, r10
	adc.w	lr, lr, #0
	adds.w	r2, r2, r6
	adcs.w	r8, r8, #0
	adcs.w	r4, r4, r6
	adcs.w	r5, r5, r7
	adcs.w	r3, r3, #0
	adcs.w	r12, r12, #0
	adc.w	lr, lr, #0
	subs.w	r8, r8, r6
	sbcs.w	r4, r4, r7
	sbcs.w	r5, r5, r9
	sbcs.w	r3, r3, r10
	sbcs.w	r12, r12, #0
	sbc.w	lr, lr, #0

	@ The same for the words 4 to 7, m(4) to m(7).
	ldr.w	r6, [sp, #COLUMNS]
	ldr.w	r7, [sp, #COLUMNS + 4]
	ldr.w	r9, [sp, #COLUMNS + 8]
	ldr.w	r10, [sp, #COLUMNS + 12]
	adds.w	r6, r6, lr
	asr.w	lr, lr, #31
	adcs.w	r7, r7, lr
	adcs.w	r9, r9, lr
	adcs.w	r10, r10, lr
	adc.w	lr, lr, #0
	adds.w	r8, r8, r0
	adcs.w	r4, r4, r1
	adcs.w	r5, r5, r2
	adcs.w	r3, r3, r8
	adcs.w	r12, r12, r1
	adcs.w	r6, r6, r2
	adcs.w	r7, r7, r8
	adcs.w	r9, r9, r2
	adcs.w	r10, r10, r8
	adc.w	lr, lr, #0
	adds.w	r3, r3, r0
	adcs.w	r12, r12, #0
	adcs.w	r6, r6, r0
	adcs.w	r7, r7, r1
	adcs.w	r9, r9, #0
	adcs.w	r10, r10, #0
	adc.w	lr, lr, #0
	subs.w	r12, r12, r0
	sbcs.w	r6, r6, r1
	sbcs.w	r7, r7, r2
	sbcs.w	r9, r9, r8
	sbcs.w	r10, r10, #0
	sbc.w	lr, lr, #0
	subs.w	r12, r12, #1
	less_p_from_4	r6, r7, r9, r10
	sbc.w	lr, lr, #0
	ldr.w	r0, [sp, #RESULT]
	@ 2^256 - p is 1 more than what was added: that is in the carry now. The number is not p,
	@ for which this would come too late: it would be a multiple of p made of the product 0.
	cmp.w	lr, #0
	plus_p	adcs, lr, r4, r5, r3, r12, r6, r7, r9, r10
	store_element	r4, r5, r3, r12, r6, r7, r9, r10, r0
	add.w	sp, sp, #FRAME + 4
	pop.w	{r4-r11, pc}
.endm

#include "product_m3.inc"
