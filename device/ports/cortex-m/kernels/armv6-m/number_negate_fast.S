@ A number or its negative modulo another, for ARMv6-M (Cortex-M0): number.h's ws_number_negate.
@
@ Constant time: no branch, no address and no instruction's duration depends on the number or on whether it is negated;
@ branches depend on the length of the modulus.

	.syntax unified
	.thumb

@ Of ws_modulus.
	.equ	BYTES, 0
	.equ	MODULUS, 4

@ void ws_number_negate(r0: a, r1: m, r2: negate). modulus - a = modulus + not a + 1.
@ 142 cycles for 32 bytes without wait states, call included, 16 bytes of stack. Clobbers r0-r3.
@
@ r1 to r3: the rest of the modulus; r2: all ones to negate, else 0; r6: the carry.
	.section .text.ws_number_negate, "ax", %progbits
	.balign	4
	.global	ws_number_negate
	.type	ws_number_negate, %function
	.thumb_func
ws_number_negate:
	push	{r4-r6, lr}
	ldrb	r3, [r1, #BYTES]
	ldr	r1, [r1, #MODULUS]
	adds	r3, r1
	mov	r6, r2
	rsbs	r2, r2, #0
1:	ldmia	r1!, {r4}
	ands	r4, r2
	ldr	r5, [r0]
	eors	r5, r2
	lsrs	r6, r6, #1
	adcs	r5, r4
	adcs	r6, r6
	stmia	r0!, {r5}
	cmp	r1, r3
	bne	1b
	pop	{r4-r6, pc}
	.size	ws_number_negate, . - ws_number_negate
