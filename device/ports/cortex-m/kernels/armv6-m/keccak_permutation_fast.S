@ Keccak-f[1600] for ARMv6-M (FIPS 202 section 3), the fast variant, on bit-interleaved lanes (keccak_permutation.h).
@
@ in:  r0 state.
@ 16540 cycles on Cortex-M0 without wait states, from the call instruction to the return inclusive.
@ Stack: 484 bytes. Flash: 2340 bytes and 192 of constants. Clobbers: r0-r3, r12.
@
@ Constant flow: no branch and no address depends on the state. The frame is wiped, and registers are the caller's to clear.
@
@ The idea. Rounds go from one copy of the state on the stack to another and back. A copy has the even halves of all lanes in order, then
@ those halves of the columns' parities, then the odd halves, so that a row of chi leaves five registers for five words in order
@ and a column is five words apart. What a row reads comes by addresses relative to the stack pointer, which reach all, in the order of pi.
@ Chi needs two registers beside its five, because each AND that is the last to need a word takes its place. The last row of a half stays
@ in its registers and begins the parities. Theta's D is in the six high registers, and what these do not hold in the place of the parities.

	.syntax unified
	.thumb

@ The frame, in bytes: two copies of 55 words, the next round constants, the caller's state.
	.equ	COPY, 220
	.equ	CONSTANTS, 440
	.equ	STATE, 444
	.equ	FRAME, 448

@ A word of the source, with theta's D of its column, turned right by n.
	.macro	lane a, word, d, n
	ldr	\a, [sp, #(source + 4 * \word)]
	mov	r0, \d
	turn	\a, \n
	.endm

	.macro	lane_of_memory a, word, d, n
	ldr	\a, [sp, #(source + 4 * \word)]
	ldr	r0, [sp, #(source + 4 * \d)]
	turn	\a, \n
	.endm

	.macro	turn a, n
	eors	\a, r0
	.ifc	\n, same
	rors	\a, r1
	.elseif	\n
	movs	r1, #\n
	rors	\a, r1
	.endif
	.endm

@ The row r5, r6, r2, r3, r4 to r0, r1, r2, r3, r6.
	.macro	chi
	movs	r0, r2
	bics	r0, r6
	eors	r0, r5
	movs	r1, r3
	bics	r1, r2
	eors	r1, r6
	bics	r6, r5
	bics	r5, r4
	eors	r6, r4
	bics	r4, r3
	eors	r2, r4
	eors	r3, r5
	.endm

	.macro	iota at
	ldr	r4, [sp, #CONSTANTS]
	ldr	r5, [r4, #(\at)]
	eors	r0, r5
	.endm

@ Adds four rows from r7 on to r0, r1, r2, r3, r6.
	.macro	add_four_rows
	.rept	2
	ldmia	r7!, {r4, r5}
	eors	r0, r4
	eors	r1, r5
	ldmia	r7!, {r4, r5}
	eors	r2, r4
	eors	r3, r5
	ldmia	r7!, {r4, r5}
	eors	r6, r4
	eors	r0, r5
	ldmia	r7!, {r4, r5}
	eors	r1, r4
	eors	r2, r5
	ldmia	r7!, {r4, r5}
	eors	r3, r4
	eors	r6, r5
	.endr
	.endm

@ The parities of a half whose last row is in registers and has just been stored.
	.macro	add_rows
	subs	r7, #100
	add_four_rows
	adds	r7, #20
	.endm

@ D of the parities: the even halves' in the copy at `at`, the odd ones' in r0, r1, r2, r3, r6.
	.macro	spread at
	movs	r7, #31
	ldr r4, [sp, #(\at + 4 * (25 + 0))]
	movs r5, r4
	eors r5, r3
	str r5, [sp, #(\at + 4 * (25 + 0))]
	movs r5, r2
	rors r5, r7
	eors r5, r4
	mov r9, r5
	ldr r4, [sp, #(\at + 4 * (25 + 1))]
	movs r5, r4
	eors r5, r6
	str r5, [sp, #(\at + 4 * (25 + 1))]
	rors r3, r7
	eors r3, r4
	mov r10, r3
	ldr r4, [sp, #(\at + 4 * (25 + 2))]
	movs r5, r4
	eors r5, r0
	str r5, [sp, #(\at + 4 * (25 + 2))]
	rors r6, r7
	eors r6, r4
	mov r11, r6
	ldr r4, [sp, #(\at + 4 * (25 + 3))]
	movs r5, r4
	eors r5, r1
	str r5, [sp, #(\at + 4 * (25 + 3))]
	rors r0, r7
	eors r0, r4
	mov r12, r0
	ldr r4, [sp, #(\at + 4 * (25 + 4))]
	movs r5, r4
	eors r5, r2
	mov lr, r5
	rors r1, r7
	eors r1, r4
	mov r8, r1
	.endm

@ Rho, pi, chi and iota from the copy at `from` to that at `to`, and the parities of the even halves.
	.macro	rows from, to, constant
	.set	source, \from
	add	r7, sp, #\to
	lane r5, 0, r8, 0
	lane r6, 6, r9, 10
	lane_of_memory r2, 42, 28, same
	lane r3, 48, lr, 21
	lane r4, 24, r12, 25
	chi
	iota \constant + 0
	stmia r7!, {r0-r3, r6}
	lane r5, 3, r11, 18
	lane r6, 9, r12, 22
	lane_of_memory r2, 40, 26, 30
	lane_of_memory r3, 46, 27, 9
	lane_of_memory r4, 52, 28, 1
	chi
	stmia r7!, {r0-r3, r6}
	lane_of_memory r5, 31, 27, 31
	lane r6, 7, r10, 29
	lane r2, 43, lr, 19
	lane r3, 19, r12, 28
	lane r4, 20, r8, 23
	chi
	stmia r7!, {r0-r3, r6}
	lane_of_memory r5, 34, 25, 18
	lane r6, 5, r8, 14
	lane r2, 11, r9, 27
	lane_of_memory r3, 47, 28, 24
	lane r4, 23, r11, 4
	chi
	stmia r7!, {r0-r3, r6}
	lane r5, 2, r10, 1
	lane r6, 38, lr, 4
	lane_of_memory r2, 44, 25, 12
	lane_of_memory r3, 45, 26, 11
	lane r4, 21, r9, 31
	chi
	stmia r7!, {r0-r3, r6}
	add_rows
	stmia r7!, {r0-r3, r6}
	lane_of_memory r5, 30, 26, 0
	lane_of_memory r6, 36, 27, 10
	lane r2, 12, r10, 11
	lane r3, 18, r11, 22
	lane_of_memory r4, 54, 25, 25
	chi
	iota \constant + 4
	stmia r7!, {r0-r3, r6}
	lane r5, 33, lr, 18
	lane_of_memory r6, 39, 25, 22
	lane r2, 10, r8, 31
	lane r3, 16, r9, 10
	lane r4, 22, r10, 2
	chi
	stmia r7!, {r0-r3, r6}
	lane r5, 1, r9, 0
	lane_of_memory r6, 37, 28, 29
	lane r2, 13, r11, 20
	lane_of_memory r3, 49, 25, 28
	lane_of_memory r4, 50, 26, 23
	chi
	stmia r7!, {r0-r3, r6}
	lane r5, 4, r12, 19
	lane_of_memory r6, 35, 26, 14
	lane_of_memory r2, 41, 27, 27
	lane r3, 17, r10, 25
	lane r4, 53, lr, 4
	chi
	stmia r7!, {r0-r3, r6}
	lane_of_memory r5, 32, 28, 1
	lane r6, 8, r11, 5
	lane r2, 14, r12, 13
	lane r3, 15, r8, 12
	lane_of_memory r4, 51, 27, 31
	chi
	stmia r7!, {r0-r3, r6}
	.endm

	.section .rodata.ws_keccak_permute, "a", %progbits
	.balign	4
	.type	round_constants, %object
@ Section 3.2.5: even bits, and odd bits.
round_constants:
	.word 0x00000001, 0x00000000, 0x00000000, 0x00000089, 0x00000000, 0x8000008b, 0x00000000, 0x80008080
	.word 0x00000001, 0x0000008b, 0x00000001, 0x00008000, 0x00000001, 0x80008088, 0x00000001, 0x80000082
	.word 0x00000000, 0x0000000b, 0x00000000, 0x0000000a, 0x00000001, 0x00008082, 0x00000000, 0x00008003
	.word 0x00000001, 0x0000808b, 0x00000001, 0x8000000b, 0x00000001, 0x8000008a, 0x00000001, 0x80000081
	.word 0x00000000, 0x80000081, 0x00000000, 0x80000008, 0x00000000, 0x00000083, 0x00000000, 0x80008003
	.word 0x00000001, 0x80008088, 0x00000000, 0x80000088, 0x00000001, 0x00008000, 0x00000000, 0x80008082
round_constants_end:
	.size	round_constants, . - round_constants

	.section .text.ws_keccak_permute, "ax", %progbits
	.balign	4
	.global	ws_keccak_permute
	.type	ws_keccak_permute, %function
	.thumb_func
ws_keccak_permute:
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	sub	sp, #FRAME
	str	r0, [sp, #STATE]
	ldr	r1, =round_constants
	str	r1, [sp, #CONSTANTS]
	mov	r5, sp
	mov	r6, sp
	adds	r6, #120
	.rept	12
	ldmia	r0!, {r1-r4}
	stmia	r5!, {r1, r3}
	stmia	r6!, {r2, r4}
	.endr
	ldmia	r0!, {r1, r2}
	str	r1, [r5]
	str	r2, [r6]
	mov	r7, sp
	ldmia	r7!, {r0-r3, r6}
	add_four_rows
	stmia	r7!, {r0-r3, r6}
	ldmia	r7!, {r0-r3, r6}
	add_four_rows
	b	two_rounds
	.ltorg

	.balign	4
two_rounds:
	spread	0
	rows	0, COPY, 0
	add_rows
	spread	COPY
	rows	COPY, 0, 8
	ldr	r4, [sp, #CONSTANTS]
	adds	r4, #16
	str	r4, [sp, #CONSTANTS]
	ldr	r5, =round_constants_end
	cmp	r4, r5
	beq	give
	add_rows
	ldr	r4, =(two_rounds + 1)
	bx	r4
	.balign	4
	.ltorg

give:
	ldr	r0, [sp, #STATE]
	mov	r5, sp
	mov	r6, sp
	adds	r6, #120
	.rept	12
	ldmia	r5!, {r1, r3}
	ldmia	r6!, {r2, r4}
	stmia	r0!, {r1-r4}
	.endr
	ldr	r1, [r5]
	ldr	r2, [r6]
	stmia	r0!, {r1, r2}
	movs	r0, #0
	.irp	x, r1, r2, r3, r4, r5, r6
	movs	\x, r0
	.endr
	mov	r7, sp
	.rept	15
	stmia	r7!, {r0-r6}
	.endr
	stmia	r7!, {r0-r4}
	add	sp, #FRAME
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.size	ws_keccak_permute, . - ws_keccak_permute
