@ Half of a number modulo an odd one, for ARMv7-M (Cortex-M3, M4 and M7): number.h's
@ ws_number_halve.
@
@ Constant time: no address and no instruction's duration depends on the number; branches depend on the length
@ of the modulus, and leave the carry alone.

	.syntax unified
	.thumb

	@ Of ws_modulus.
	.set	BYTES, 0
	.set	MODULUS, 4

@ void ws_number_halve(ws_limb *a, const ws_modulus *m)
@ In: r0 a, aligned to 4, r1 m: 20, 24 or 32 bytes. Out: none; a is written. Clobbers r0-r3, r12,
@ flags. Stack: 32 bytes. 85 cycles for 32 bytes on Cortex-M3, 84 on M4, without wait states, call included. The modulus
@ is added if a is odd, and the sum goes one place down from its carry on.
	.section .text.ws_number_halve, "ax", %progbits
	.balign	4
	.global	ws_number_halve
	.type	ws_number_halve, %function
	.thumb_func
ws_number_halve:
	push.w	{r4-r11}
	ldrb.w	r2, [r1, #BYTES]
	ldr.w	r1, [r1, #MODULUS]
	ldr.w	r4, [r0]
	ldr.w	r5, [r0, #4]
	ldr.w	r6, [r0, #8]
	ldr.w	r7, [r0, #12]
	ldr.w	r8, [r0, #16]
	ldr.w	r9, [r1]
	ldr.w	r10, [r1, #4]
	ldr.w	r11, [r1, #8]
	ldr.w	r12, [r1, #12]
	and.w	r3, r4, #1
	rsb.w	r3, r3, #0
	and.w	r9, r9, r3
	and.w	r10, r10, r3
	and.w	r11, r11, r3
	and.w	r12, r12, r3
	adds.w	r4, r4, r9
	adcs.w	r5, r5, r10
	adcs.w	r6, r6, r11
	adcs.w	r7, r7, r12
	ldr.w	r12, [r1, #16]
	sub.w	r2, r2, #20
	and.w	r12, r12, r3
	adcs.w	r8, r8, r12
	cbz	r2, 1f
	nop
	ldr.w	r9, [r0, #20]
	ldr.w	r12, [r1, #20]
	sub.w	r2, r2, #4
	and.w	r12, r12, r3
	adcs.w	r9, r9, r12
	cbz	r2, 2f
	nop
	ldr.w	r10, [r0, #24]
	ldr.w	r11, [r0, #28]
	ldr.w	r12, [r1, #24]
	ldr.w	r1, [r1, #28]
	and.w	r12, r12, r3
	and.w	r1, r1, r3
	adcs.w	r10, r10, r12
	adcs.w	r11, r11, r1
	rrxs.w	r11, r11
	rrxs.w	r10, r10
	str.w	r11, [r0, #28]
	str.w	r10, [r0, #24]
2:	rrxs.w	r9, r9
	str.w	r9, [r0, #20]
1:	rrxs.w	r8, r8
	rrxs.w	r7, r7
	rrxs.w	r6, r6
	rrxs.w	r5, r5
	rrx.w	r4, r4
	str.w	r8, [r0, #16]
	str.w	r7, [r0, #12]
	str.w	r6, [r0, #8]
	str.w	r5, [r0, #4]
	str.w	r4, [r0]
	pop.w	{r4-r11}
	bx	lr
	.size	ws_number_halve, . - ws_number_halve
