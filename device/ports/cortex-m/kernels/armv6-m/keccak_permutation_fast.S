@ Keccak-f[1600] for ARMv6-M (FIPS 202 section 3), the fast variant, on bit-interleaved lanes (keccak_permutation.h).
@
@ in:  r0 state.
@ 15609 cycles on Cortex-M0 without wait states, from the call instruction to the return inclusive.
@ Stack: 452 bytes. Flash: 2138 bytes and 192 of constants. Clobbers: r0-r3, r12.
@
@ Constant flow: no branch and no address depends on the state. The frame is wiped, and registers are the caller's to clear.
@
@ The idea. Rounds go from one copy of the state on the stack to another and back. A copy has rows, each of five words, the halves of its lanes:
@ the even halves' rows 1 to 4, the odd halves' rows, and the even halves' row 0. What a row reads comes by addresses relative to
@ the stack pointer, which reach all, in the order of pi. Chi takes eleven instructions and one register beside its five, so that two words
@ of theta's D stay in r6 and r7; six are in the high registers and two in memory. The row that comes last is still in registers when the
@ next round begins with the columns' parities.
@
@ Every second round leaves all words turned right by one, which changes rho's shifts and the constants, and nothing else: so seven words
@ in two rounds need no shift, where six would.

	.syntax unified
	.thumb

@ The frame, in bytes: two copies of 50 words, two words of theta's D, the next round constants, the caller's state.
	.equ	COPY, 200
	.equ	ODD1, 400
	.equ	ODD2, 404
	.equ	CONSTANTS, 408
	.equ	STATE, 412
	.equ	FRAME, 416

@ A word of the source, with theta's D of its column, turned right by n, and by what the round turns all.
	.macro	lane_low a, word, d, n
	ldr	\a, [sp, #(source + 4 * \word)]
	eors	\a, \d
	turn	\a, \n
	.endm

	.macro	lane_high a, word, d, n
	ldr	\a, [sp, #(source + 4 * \word)]
	mov	r0, \d
	eors	\a, r0
	turn	\a, \n
	.endm

	.macro	lane_spilled a, word, d, n
	ldr	\a, [sp, #(source + 4 * \word)]
	ldr	r0, [sp, #\d]
	eors	\a, r0
	turn	\a, \n
	.endm

	.macro	turn a, n
	.ifnb	\n
	.if	(\n + turned) & 31
	movs	r0, #((\n + turned) & 31)
	rors	\a, r0
	.endif
	.endif
	.endm

@ The row r3, r4, r2, r1, r5 to r0, r1, r2, r3, r4: word i + ~(word i+1) & (word i+2). A word's new value serves the word before it as the old one
@ would, for they differ where the AND with the word after it is zero; and each AND takes the place of a word that nobody else needs.
	.macro	chi
	movs	r0, r2
	bics	r0, r4
	eors	r0, r3
	bics	r3, r5
	eors	r3, r1
	bics	r1, r2
	eors	r1, r4
	bics	r4, r0
	eors	r4, r5
	bics	r5, r3
	eors	r2, r5
	.endm

	.macro	put word
	add	r5, sp, #(destination + 4 * \word)
	stmia	r5!, {r0-r4}
	.endm

@ Adds four rows from r5 on to r0-r4.
	.macro	add_four_rows
	.rept	2
	ldmia	r5!, {r6, r7}
	eors	r0, r6
	eors	r1, r7
	ldmia	r5!, {r6, r7}
	eors	r2, r6
	eors	r3, r7
	ldmia	r5!, {r6, r7}
	eors	r4, r6
	eors	r0, r7
	ldmia	r5!, {r6, r7}
	eors	r1, r6
	eors	r2, r7
	ldmia	r5!, {r6, r7}
	eors	r3, r6
	eors	r4, r7
	.endr
	.endm

@ Theta: the columns' parities, and then D, the even halves' in r12, r7, r9, r10, r11, the odd ones' in lr, ODD1, ODD2, r6, r8.
@ The even halves' row 0 is in r0-r4. Each step gives D of the even half of one column and of the odd half of another.
	.macro	theta
	add	r5, sp, #source
	add_four_rows
	mov	r8, r0
	mov	r9, r1
	mov	r10, r2
	mov	r11, r3
	mov	r12, r4
	ldmia	r5!, {r0-r4}
	add_four_rows
	movs	r5, #31
	mov	r6, r8
	movs	r7, r2
	rors	r7, r5
	eors	r7, r6
	eors	r6, r3
	mov	r8, r6
	mov	r6, r9
	rors	r3, r5
	eors	r3, r6
	mov	r9, r3
	eors	r6, r4
	mov	lr, r6
	mov	r6, r10
	rors	r4, r5
	eors	r4, r6
	mov	r10, r4
	eors	r6, r0
	str	r6, [sp, #ODD1]
	mov	r6, r11
	rors	r0, r5
	eors	r0, r6
	mov	r11, r0
	eors	r6, r1
	str	r6, [sp, #ODD2]
	mov	r6, r12
	rors	r1, r5
	eors	r1, r6
	mov	r12, r1
	eors	r6, r2
	.endm

@ A round from the copy at `from` to that at `to`, which turns all words right by `by`, with the constants at `constants` behind
@ those of two rounds. Leaves where these are in r7.
	.macro	round from, to, by, constants
	.set	source, \from
	.set	destination, \to
	.set	turned, \by
	theta
	lane_high r3, 20, lr, 0
	lane_spilled r4, 26, ODD1, 10
	lane_high r2, 7, r9, 11
	lane_high r1, 13, r10, 22
	lane_high r5, 44, r8, 25
	chi
	ldr r5, [sp, #CONSTANTS]
	ldr r5, [r5, #(\constants + 4)]
	eors r0, r5
	put 20
	lane_low r3, 23, r6, 18
	lane_high r4, 29, r8, 22
	lane_high r2, 5, r12, 31
	lane_low r1, 11, r7, 10
	lane_high r5, 17, r9, 2
	chi
	put 25
	lane_low r3, 46, r7, 0
	lane_spilled r4, 27, ODD2, 29
	lane_high r2, 8, r10, 20
	lane_high r1, 39, r8, 28
	lane_high r5, 40, lr, 23
	chi
	put 30
	lane_high r3, 49, r11, 19
	lane_high r4, 25, lr, 14
	lane_spilled r2, 31, ODD1, 27
	lane_high r1, 12, r9, 25
	lane_low r5, 43, r6, 4
	chi
	put 35
	lane_spilled r3, 22, ODD2, 1
	lane_high r4, 3, r10, 5
	lane_high r2, 9, r11, 13
	lane_high r1, 10, r12, 12
	lane_spilled r5, 41, ODD1, 31
	chi
	put 40
	lane_high r3, 48, r10, 18
	lane_high r4, 4, r11, 22
	lane_high r2, 30, lr, 30
	lane_spilled r1, 36, ODD1, 9
	lane_spilled r5, 42, ODD2, 1
	chi
	put 0
	lane_spilled r3, 21, ODD1, 31
	lane_high r4, 2, r9, 29
	lane_low r2, 33, r6, 19
	lane_high r1, 14, r11, 28
	lane_high r5, 15, r12, 23
	chi
	put 5
	lane_high r3, 24, r8, 18
	lane_high r4, 0, r12, 14
	lane_low r2, 6, r7, 27
	lane_spilled r1, 37, ODD2, 24
	lane_high r5, 18, r10, 4
	chi
	put 10
	lane_high r3, 47, r9, 1
	lane_low r4, 28, r6, 4
	lane_high r2, 34, r8, 12
	lane_high r1, 35, lr, 11
	lane_low r5, 16, r7, 31
	chi
	put 15
	lane_spilled r2, 32, ODD2
	lane_low r4, 1, r7, 10
	rors r2, r0
	lane_high r3, 45, r12, 0
	lane_low r1, 38, r6, 21
	lane_high r5, 19, r11, 25
	chi
	ldr r7, [sp, #CONSTANTS]
	ldr r5, [r7, #\constants]
	eors r0, r5
	put 45
	.endm

	.section .rodata.ws_keccak_permute, "a", %progbits
	.balign	4
	.type	round_constants, %object
@ Section 3.2.5: even bits, and odd bits; turned right by one for every second round.
round_constants:
	.word 0x80000000, 0x00000000, 0x00000000, 0x00000089, 0x00000000, 0xc0000045, 0x00000000, 0x80008080
	.word 0x80000000, 0x80000045, 0x00000001, 0x00008000, 0x80000000, 0x40004044, 0x00000001, 0x80000082
	.word 0x00000000, 0x80000005, 0x00000000, 0x0000000a, 0x80000000, 0x00004041, 0x00000000, 0x00008003
	.word 0x80000000, 0x80004045, 0x00000001, 0x8000000b, 0x80000000, 0x40000045, 0x00000001, 0x80000081
	.word 0x00000000, 0xc0000040, 0x00000000, 0x80000008, 0x00000000, 0x80000041, 0x00000000, 0x80008003
	.word 0x80000000, 0x40004044, 0x00000000, 0x80000088, 0x80000000, 0x00004000, 0x00000000, 0x80008082
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
	add	r5, sp, #(4 * 45)
	add	r6, sp, #(4 * 20)
	.rept	2
	ldmia	r0!, {r1-r4}
	stmia	r5!, {r1, r3}
	stmia	r6!, {r2, r4}
	.endr
	ldmia	r0!, {r1, r2}
	str	r1, [r5]
	stmia	r6!, {r2}
	mov	r5, sp
	.rept	10
	ldmia	r0!, {r1-r4}
	stmia	r5!, {r1, r3}
	stmia	r6!, {r2, r4}
	.endr
	add	r5, sp, #(4 * 45)
	ldmia	r5!, {r0-r4}
	b	two_rounds
	.ltorg

	.balign	4
two_rounds:
	round	0, COPY, 1, 0
	round	COPY, 0, 31, 8
	adds	r7, #16
	str	r7, [sp, #CONSTANTS]
	ldr	r6, =round_constants_end
	cmp	r7, r6
	beq	give
	b	two_rounds
	.ltorg

give:
	ldr	r0, [sp, #STATE]
	add	r5, sp, #(4 * 45)
	add	r6, sp, #(4 * 20)
	.rept	2
	ldmia	r5!, {r1, r3}
	ldmia	r6!, {r2, r4}
	stmia	r0!, {r1-r4}
	.endr
	ldr	r1, [r5]
	ldmia	r6!, {r2}
	stmia	r0!, {r1, r2}
	mov	r5, sp
	.rept	10
	ldmia	r5!, {r1, r3}
	ldmia	r6!, {r2, r4}
	stmia	r0!, {r1-r4}
	.endr
	movs	r0, #0
	.irp	x, r1, r2, r3, r4, r5, r6
	movs	\x, r0
	.endr
	mov	r7, sp
	.rept	14
	stmia	r7!, {r0-r6}
	.endr
	stmia	r7!, {r0-r3}
	add	sp, #FRAME
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.size	ws_keccak_permute, . - ws_keccak_permute
