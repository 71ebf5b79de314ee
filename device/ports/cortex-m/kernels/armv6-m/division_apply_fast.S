@ What division steps do to long numbers, for ARMv6-M (Cortex-M0): division_steps.h's ws_division_apply and
@ ws_division_apply_modulo.
@
@ Constant time: branches and addresses depend on the number of digits.
@
@ A digit of each of two numbers is one word. u, v, q and r stay in r8-r11, the two sums in r2 and r3, of which a turn
@ gives their lowest 14 bits away. No sum reaches 2^31: |u| + |v| and |q| + |r| are at most 2^14, and the modulus is
@ added less than 2^15 times.

	.syntax unified
	.thumb

	.equ	STEPS, 14	@ WS_DIVISION_STEPS for limbs of 16 bits

.macro	save_registers
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
.endm
.macro	restore_registers_and_return
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
.endm

@ r8-r11 = the step at r1. Clobbers r1, r4-r6.
.macro	load_step
	ldmia	r1!, {r4, r5}
	sxth	r6, r4
	mov	r8, r6
	asrs	r4, r4, #16
	mov	r9, r4
	sxth	r6, r5
	mov	r10, r6
	asrs	r5, r5, #16
	mov	r11, r5
.endm

@ r4, r5 = the two digits in r4.
.macro	unpack
	asrs	r5, r4, #16
	sxth	r4, r4
.endm

@ r2 += u r4 + v r5, r3 += q r4 + r r5. Clobbers r4-r6.
.macro	add_products
	mov	r6, r8
	muls	r6, r4
	adds	r2, r6
	mov	r6, r9
	muls	r6, r5
	adds	r2, r6
	mov	r6, r10
	muls	r4, r6
	adds	r3, r4
	mov	r6, r11
	muls	r5, r6
	adds	r3, r5
.endm

@ The lowest 14 bits of r2 and r3 become the digits at r0, which moves on. Clobbers r4, r5.
.macro	store_digits
	lsls	r4, r2, #32 - STEPS
	lsrs	r4, r4, #32 - STEPS
	lsls	r5, r3, #32 - STEPS
	lsrs	r5, r5, #32 - 16 - STEPS
	orrs	r4, r5
	stmia	r0!, {r4}
.endm

@ r2 and r3 without the digits that are stored.
.macro	next_digits
	asrs	r2, r2, #STEPS
	asrs	r3, r3, #STEPS
.endm
@ What is left in the end are the highest digits.
.macro	store_highest_and_return
	next_digits
	strh	r2, [r0]
	strh	r3, [r0, #2]
	restore_registers_and_return
.endm

@ void ws_division_apply(r0: fg, r1: step, r2: digits)
@ 595 cycles for 19 digits without wait states, call included, 36 bytes of stack. Clobbers r0-r3, r12.
	.section .text.ws_division_apply, "ax", %progbits
	.balign	4
	.global	ws_division_apply
	.type	ws_division_apply, %function
	.thumb_func
ws_division_apply:
	save_registers
	load_step
	@ r7: the highest digits.
	subs	r2, #1
	lsls	r2, r2, #2
	adds	r7, r0, r2
	ldr	r4, [r0]
	unpack
	movs	r2, #0
	movs	r3, #0
	add_products
1:	ldr	r4, [r0, #4]
	next_digits
	unpack
	add_products
	store_digits
	cmp	r0, r7
	bne	1b
	store_highest_and_return
	.size	ws_division_apply, . - ws_division_apply

@ r12 or lr, `more`, = how often the modulus is to be added to what has the lowest digit in \sum. It is \a
@ where r4, the mask of d's sign, is set, plus \b where r5, that of e's, is; then less what makes 2^14 divide the sum.
@ r6: inverse. Clobbers r1.
.macro	count_modulus more, sum, a, b
	mov	r1, \a
	ands	r1, r4
	mov	\more, r1
	mov	r1, \b
	ands	r1, r5
	add	\more, r1
	mov	r1, \sum
	muls	r1, r6
	add	r1, \more
	lsls	r1, r1, #32 - STEPS
	lsrs	r1, r1, #32 - STEPS
	rsbs	r1, r1, #0
	add	\more, r1
.endm

@ Adds the digit r4 of the modulus as often as it is to be. Clobbers r4, r6.
.macro	add_modulus
	mov	r6, r12
	muls	r6, r4
	adds	r2, r6
	mov	r6, lr
	muls	r4, r6
	adds	r3, r4
.endm

@ void ws_division_apply_modulo(r0: de, r1: step, r2: modulus, r3: inverse, [sp]: digits)
@ 806 cycles for 19 digits without wait states, call included, 44 bytes of stack. Clobbers r0-r3, r12.
	.equ	DIGITS, 44		@ the fifth argument: above 9 registers and the two that follow
	.section .text.ws_division_apply_modulo, "ax", %progbits
	.balign	4
	.global	ws_division_apply_modulo
	.type	ws_division_apply_modulo, %function
	.thumb_func
ws_division_apply_modulo:
	save_registers
	push	{r2, r3}
	load_step
	ldr	r7, [sp, #DIGITS]
	subs	r7, #1
	lsls	r7, r7, #2
	adds	r7, r7, r0
	ldr	r4, [r0]
	unpack
	movs	r2, #0
	movs	r3, #0
	add_products
	ldr	r4, [r7]
	asrs	r5, r4, #31
	lsls	r4, r4, #16
	asrs	r4, r4, #31
	ldr	r6, [sp, #4]
	count_modulus r12, r2, r8, r9
	count_modulus lr, r3, r10, r11
	pop	{r1, r4}
	ldrh	r4, [r1]
	add_modulus
1:	ldr	r4, [r0, #4]
	next_digits
	unpack
	add_products
	adds	r1, #2
	ldrh	r4, [r1]
	add_modulus
	store_digits
	cmp	r0, r7
	bne	1b
	store_highest_and_return
	.size	ws_division_apply_modulo, . - ws_division_apply_modulo
