@ The 20 rounds of ChaCha20 for ARMv6-M (RFC 8439, section 2.3): chacha20_rounds.h's function, the
@ fast variant.
@
@ Cycles of a call without wait states: 2,122 on a Cortex-M0; stack 88 bytes; flash 440.
@
@ Constant time: no instruction, address or duration depends on the state. Copies of
@ it on the stack are wiped.
@
@ The idea. A quarter round is twelve instructions on r0-r3, with the four rotations in r4-r7. Words
@ 0 to 3, 12 and 13 wait in the high registers, whence a move brings them in one cycle, the others
@ on the stack. Of the columns and diagonals in their order the last column and the first diagonal
@ have word 15 both, and the last diagonal and the first column have word 4: they stay in r3 and r1.
@ RORS takes the five low bits of r4: the others count the double rounds that are left.

	.syntax unified
	.thumb

@ The frame: words 4 to 11, 14 and 15, each where its number says.
	.equ	FRAME, 48

.macro	load r, w
	ldr	\r, [sp, #4 * \w - 16]
.endm
.macro	store r, w
	str	\r, [sp, #4 * \w - 16]
.endm

@ Section 2.1 on r0-r3.
.macro	quarter_round
	adds	r0, r1
	eors	r3, r0
	rors	r3, r4
	adds	r2, r3
	eors	r1, r2
	rors	r1, r5
	adds	r0, r1
	eors	r3, r0
	rors	r3, r6
	adds	r2, r3
	eors	r1, r2
	rors	r1, r7
.endm

	.section .text.ws_chacha20_rounds, "ax", %progbits
	.balign	4
	.globl	ws_chacha20_rounds
	.type	ws_chacha20_rounds, %function
	.thumb_func
ws_chacha20_rounds:
	movs	r1, r0

@ void ws_chacha20_rounds_to(const uint32_t state[16], uint32_t out[16])
@ In: r0 state, r1 out, which may be the state. Clobbers r0-r3, r12, flags.
	.globl	ws_chacha20_rounds_to
	.type	ws_chacha20_rounds_to, %function
	.thumb_func
ws_chacha20_rounds_to:
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r1, r4-r7}
	sub	sp, #FRAME
	ldmia	r0!, {r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	mov	r1, sp
	ldmia	r0!, {r4-r7}
	stmia	r1!, {r4-r7}
	ldmia	r0!, {r4-r7}
	stmia	r1!, {r4-r7}
	ldmia	r0!, {r4-r7}
	mov	r12, r4
	mov	lr, r5
	store	r6, 14
	store	r7, 15
	movs	r4, #16 + 3 * 32
	adds	r4, #6 * 32
	movs	r5, #20
	movs	r6, #24
	movs	r7, #25
	load	r1, 4
1:	mov	r0, r8
	load	r2, 8
	mov	r3, r12
	quarter_round
	mov	r8, r0
	store	r1, 4
	store	r2, 8
	mov	r12, r3
	mov	r0, r9
	load	r1, 5
	load	r2, 9
	mov	r3, lr
	quarter_round
	mov	r9, r0
	store	r1, 5
	store	r2, 9
	mov	lr, r3
	mov	r0, r10
	load	r1, 6
	load	r2, 10
	load	r3, 14
	quarter_round
	mov	r10, r0
	store	r1, 6
	store	r2, 10
	store	r3, 14
	mov	r0, r11
	load	r1, 7
	load	r2, 11
	load	r3, 15
	quarter_round
	mov	r11, r0
	store	r1, 7
	store	r2, 11
	mov	r0, r8
	load	r1, 5
	load	r2, 10
	quarter_round
	mov	r8, r0
	store	r1, 5
	store	r2, 10
	store	r3, 15
	mov	r0, r9
	load	r1, 6
	load	r2, 11
	mov	r3, r12
	quarter_round
	mov	r9, r0
	store	r1, 6
	store	r2, 11
	mov	r12, r3
	mov	r0, r10
	load	r1, 7
	load	r2, 8
	mov	r3, lr
	quarter_round
	mov	r10, r0
	store	r1, 7
	store	r2, 8
	mov	lr, r3
	mov	r0, r11
	load	r1, 4
	load	r2, 9
	load	r3, 14
	quarter_round
	mov	r11, r0
	store	r2, 9
	store	r3, 14
	subs	r4, #32
	bmi	2f
	b	1b
2:	store	r1, 4
	ldr	r0, [sp, #FRAME]
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	stmia	r0!, {r4-r7}
	mov	r1, sp
	ldmia	r1!, {r4-r7}
	stmia	r0!, {r4-r7}
	ldmia	r1!, {r4-r7}
	stmia	r0!, {r4-r7}
	mov	r4, r12
	mov	r5, lr
	load	r6, 14
	load	r7, 15
	stmia	r0!, {r4-r7}
	mov	r1, sp
	movs	r4, #0
	movs	r5, #0
	movs	r6, #0
	movs	r7, #0
	stmia	r1!, {r4-r7}
	stmia	r1!, {r4-r7}
	stmia	r1!, {r4-r7}
	add	sp, #FRAME + 4
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.size	ws_chacha20_rounds, . - ws_chacha20_rounds
	.size	ws_chacha20_rounds_to, . - ws_chacha20_rounds_to
