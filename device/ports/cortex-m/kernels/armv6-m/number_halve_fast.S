@ Half of a number modulo an odd one, for ARMv6-M (Cortex-M0): number.h's ws_number_halve.
@
@ Constant time: no branch, no address and no instruction's duration depends on the number; branches depend on
@ the length of the modulus.

	.syntax unified
	.thumb

@ Of ws_modulus.
	.equ	BYTES, 0
	.equ	MODULUS, 4

@ void ws_number_halve(r0: a, r1: m). The modulus is added if a is odd, and the sum goes one place down.
@ 156 cycles for 32 bytes without wait states, call included, 20 bytes of stack. Clobbers r0-r3.
@
@ r1 to r2: the rest of the modulus; r3: all ones if a is odd, else 0; r6: the carry; r7: the last word of the sum,
@ halved, but for its highest bit.
	.section .text.ws_number_halve, "ax", %progbits
	.balign	4
	.global	ws_number_halve
	.type	ws_number_halve, %function
	.thumb_func
ws_number_halve:
	push	{r4-r7, lr}
	ldrb	r2, [r1, #BYTES]
	ldr	r1, [r1, #MODULUS]
	adds	r2, r1
	ldr	r5, [r0]
	lsls	r3, r5, #31
	asrs	r3, r3, #31
	ldmia	r1!, {r4}
	ands	r4, r3
	movs	r6, #0
	adds	r4, r5
	adcs	r6, r6
	lsrs	r7, r4, #1
1:	ldmia	r1!, {r4}
	ands	r4, r3
	ldr	r5, [r0, #4]
	lsrs	r6, r6, #1
	adcs	r4, r5
	adcs	r6, r6
	lsls	r5, r4, #31
	orrs	r7, r5
	stmia	r0!, {r7}
	lsrs	r7, r4, #1
	cmp	r1, r2
	bne	1b
	lsls	r6, r6, #31
	orrs	r7, r6
	str	r7, [r0]
	pop	{r4-r7, pc}
	.size	ws_number_halve, . - ws_number_halve
