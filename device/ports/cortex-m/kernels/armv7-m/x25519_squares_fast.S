@ Squares of squares in the field of X25519 for Cortex-M4 and M7: x25519_squares.h's
@ ws_x25519_square_often.
@
@ Constant time: x25519_field_m4.S's square, as often as told.

	.syntax unified
	.thumb

@ void ws_x25519_square_often(ws_x25519_element *r, const ws_x25519_element *a, uint8_t times)
@ In: r0 r, r1 a, aligned to 4, r2 times, not 0. Out: none; r is written. Clobbers r0-r3, r12,
@ flags.
@ Stack: 88 bytes. 28 cycles, and 135 for each square, without wait states, call included.
	.section .text.ws_x25519_square_often, "ax", %progbits
	.balign	4
	.global	ws_x25519_square_often
	.type	ws_x25519_square_often, %function
	.thumb_func
ws_x25519_square_often:
	push.w	{r2, r4-r11, lr}
1:	bl	ws_x25519_square_inner
	ldr.w	r2, [sp]
	mov.w	r1, r0
	subs.w	r2, r2, #1
	str.w	r2, [sp]
	bne.w	1b
	add.w	sp, sp, #4
	pop.w	{r4-r11, pc}
	.size	ws_x25519_square_often, . - ws_x25519_square_often
