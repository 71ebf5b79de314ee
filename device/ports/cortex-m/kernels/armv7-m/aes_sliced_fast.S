@ AES-128 in counter mode without tables for ARMv7-M (Cortex-M3, M4 and M7): aes_sliced.h's
@ ws_aes128_ctr_sliced.
@
@ Constant time: no branch, no address and no instruction's duration depends on the key or on the
@ message; branches depend on the length.
@
@ The idea. Two blocks at once stand as eight words, word b with bit b of all their bytes: bits 8
@ row + 2 column + block. A row is a byte, so that rows turn by rotations, which the second operand
@ of an EOR has for nothing. ShiftRows is left out, as A. Adomnicai and T. Peyrin do ("Fixslicing
@ AES-like ciphers", TCHES 2021/1): after n rounds row r stands n r columns further, round keys are
@ made to stand so, too, and MixColumns, which adds up rows, brings the columns of each together;
@ there are four kinds, for n modulo 4. After ten rounds two rows are two columns further.
@
@ SubBytes is the circuit of J. Boyar and R. Peralta ("A small depth-16 circuit for the AES S-box",
@ SEC 2012) without the constant 0x63, which is in the round keys.

	.syntax unified
	.thumb

	@ Of what lies on the stack: words of SubBytes and where it returns to; the address of the next
	@ round key; a round constant; the counter, its highest word first; the arguments; the key stream,
	@ before that the present round key; the round keys.
	.set	SPILL, 0
	.set	RETURN, SPILL + 4 * 14
	.set	NEXT_KEY, RETURN + 4
	.set	CONSTANT, NEXT_KEY + 4
	.set	COUNTER, CONSTANT + 4
	.set	IN, COUNTER + 16
	.set	OUT, IN + 4
	.set	LEFT, OUT + 4
	.set	STREAM, LEFT + 4
	.set	KEYS, STREAM + 32
	.set	FRAME, KEYS + 11 * 32
	.set	LENGTH, FRAME + 36

@ ------------------------------------------------------------------ bits

@ Changes bits of a, n above those of `mask`, for the bits of `mask` in b. Clobbers r0. 4 cycles.
.macro	swap a, b, n, mask
	eor.w	r0, \b, \a, lsr #\n
	and.w	r0, r0, #\mask
	eor.w	\b, \b, r0
	eor.w	\a, \a, r0, lsl #\n
.endm

	.section .text.ws_aes128_ctr_sliced, "ax", %progbits

@ Words of two blocks in turn, column by column, in r4 to r11, become the eight words of bits, or
@ these the others. Clobbers r0. 52 cycles.
	.balign	4
	.type	transpose, %function
	.thumb_func
transpose:
	swap	r4, r5, 1, 0x55555555
	swap	r6, r7, 1, 0x55555555
	swap	r8, r9, 1, 0x55555555
	swap	r10, r11, 1, 0x55555555
	swap	r4, r6, 2, 0x33333333
	swap	r5, r7, 2, 0x33333333
	swap	r8, r10, 2, 0x33333333
	swap	r9, r11, 2, 0x33333333
	swap	r4, r8, 4, 0x0f0f0f0f
	swap	r5, r9, 4, 0x0f0f0f0f
	swap	r6, r10, 4, 0x0f0f0f0f
	swap	r7, r11, 4, 0x0f0f0f0f
	bx	lr
	.size	transpose, . - transpose

@ SubBytes of r4 to r11, lowest bit first. Clobbers r0-r3, r12, lr. 161 cycles.
@ Order and registers were found by crates/testkit/kernels/arrange.py, which has how, from
@ aes_substitution.txt.
	.balign	4
	.type	substitute, %function
	.thumb_func
substitute:
	str.w	lr, [sp, #RETURN]
	eor.w	lr, r8, r6
	eor.w	r12, r11, r5
	eor.w	r3, r11, r8
	eor.w	r9, r10, r9
	eor.w	r2, r12, lr
	eor.w	r7, r7, r2
	eor.w	r10, r7, r10
	eor.w	r7, r7, r6
	eor.w	r1, r9, r4
	eor.w	r0, r7, r4
	eor.w	r5, r1, r5
	str.w	r12, [sp, #SPILL + 0]
	and.w	r12, r2, r7
	eor.w	r6, r11, r6
	eor.w	r8, r1, r8
	str.w	r2, [sp, #SPILL + 4]
	eor.w	r2, r5, r6
	str.w	r6, [sp, #SPILL + 8]
	eor.w	r6, r7, r9
	str.w	r7, [sp, #SPILL + 12]
	and.w	r7, r5, r1
	str.w	r5, [sp, #SPILL + 16]
	and.w	r5, r2, r0
	str.w	r0, [sp, #SPILL + 20]
	eor.w	r0, r10, r3
	str.w	r2, [sp, #SPILL + 24]
	and.w	r2, r8, r4
	str.w	r8, [sp, #SPILL + 28]
	and.w	r8, r3, r0
	str.w	r3, [sp, #SPILL + 32]
	eor.w	r3, r6, r0
	eor.w	r5, r5, r12
	eor.w	r12, r2, r12
	eor.w	r9, r9, r0
	and.w	r2, lr, r3
	str.w	r3, [sp, #SPILL + 36]
	ldr.w	r3, [sp, #SPILL + 0]
	str.w	lr, [sp, #SPILL + 40]
	and.w	lr, r3, r9
	eor.w	r7, r7, lr
	eor.w	r2, r2, r8
	eor.w	r5, r5, r2
	eor.w	r7, r7, r2
	eor.w	r10, r5, r10
	eor.w	r5, r3, r9
	eor.w	r2, r11, r9
	ldr.w	r3, [sp, #SPILL + 8]
	str.w	r9, [sp, #SPILL + 44]
	and.w	r9, r3, r6
	eor.w	r7, r7, r5
	eor.w	r11, r1, r11
	eor.w	r8, r9, r8
	eor.w	r9, r4, r0
	and.w	r5, r11, r9
	eor.w	r5, r5, lr
	eor.w	r5, r5, r8
	eor.w	r2, r5, r2
	eor.w	r12, r12, r8
	and.w	r8, r10, r7
	eor.w	r5, r6, r3
	eor.w	r12, r12, r5
	eor.w	r5, r12, r8
	eor.w	r8, r2, r8
	eor.w	lr, r7, r2
	and.w	r5, r5, lr
	eor.w	r5, r5, r2
	eor.w	lr, r8, r5
	eor.w	r7, r7, r5
	and.w	r2, r2, lr
	eor.w	lr, r8, r2
	eor.w	r10, r10, r12
	and.w	r8, r10, r8
	eor.w	r12, r8, r12
	and.w	r11, r12, r11
	and.w	lr, r12, lr
	eor.w	r8, r12, r5
	eor.w	r10, r10, lr
	eor.w	r2, r2, r7
	eor.w	r7, r10, r2
	and.w	r1, r10, r1
	eor.w	lr, r12, r10
	and.w	r3, r7, r3
	and.w	r9, r12, r9
	eor.w	r12, r8, r7
	and.w	r6, r7, r6
	ldr.w	r7, [sp, #SPILL + 16]
	and.w	r10, r10, r7
	and.w	r0, r8, r0
	and.w	r4, r5, r4
	ldr.w	r7, [sp, #SPILL + 40]
	and.w	r7, r12, r7
	str.w	r11, [sp, #SPILL + 48]
	ldr.w	r11, [sp, #SPILL + 36]
	and.w	r12, r12, r11
	ldr.w	r11, [sp, #SPILL + 32]
	and.w	r11, r8, r11
	ldr.w	r8, [sp, #SPILL + 28]
	and.w	r8, r5, r8
	eor.w	r0, r0, r12
	eor.w	r12, r12, r6
	eor.w	r5, r5, r2
	eor.w	r10, r9, r10
	ldr.w	r6, [sp, #SPILL + 24]
	and.w	r6, r2, r6
	eor.w	r3, r7, r3
	eor.w	r7, r11, r7
	ldr.w	r11, [sp, #SPILL + 4]
	and.w	r11, r5, r11
	eor.w	r11, r11, r6
	eor.w	r6, r6, r8
	eor.w	r9, r4, r9
	ldr.w	r8, [sp, #SPILL + 12]
	and.w	r8, r5, r8
	ldr.w	r5, [sp, #SPILL + 44]
	and.w	r5, lr, r5
	eor.w	r8, r8, r5
	eor.w	r0, r5, r0
	ldr.w	r5, [sp, #SPILL + 0]
	and.w	r5, lr, r5
	eor.w	r4, r4, r5
	eor.w	r4, r4, r8
	eor.w	lr, r1, r7
	eor.w	r5, r5, r10
	eor.w	r7, r7, r4
	eor.w	r12, r12, lr
	eor.w	lr, r11, lr
	eor.w	r1, r1, r0
	eor.w	r11, r0, lr
	ldr.w	r0, [sp, #SPILL + 20]
	and.w	r0, r2, r0
	ldr.w	r2, [sp, #SPILL + 48]
	eor.w	r2, r2, r4
	eor.w	lr, r0, lr
	eor.w	r4, r10, r7
	eor.w	r7, r9, lr
	eor.w	r2, r2, r12
	eor.w	r9, r1, r2
	eor.w	r8, r8, lr
	eor.w	r10, r1, r8
	eor.w	r5, r5, r12
	eor.w	r6, r6, r2
	eor.w	r9, r3, r9
	ldr.w	lr, [sp, #RETURN]
	bx	lr
	.size	substitute, . - substitute

@ ------------------------------------------------------------------ rows

@ For each word of r4 to r11: changes the halves of the bytes of `mask`, which are rows. Clobbers
@ r0. 32 cycles.
.macro	change_halves mask
	.irp	word, r4, r5, r6, r7, r8, r9, r10, r11
	eor.w	r0, \word, \word, lsr #4
	and.w	r0, r0, \mask
	eor.w	\word, \word, r0
	eor.w	\word, \word, r0, lsl #4
	.endr
.endm

@ For each word of r4 to r11: rows 1 and 3 turn by two bits, `up` up or down. Clobbers r0, r1. 40
@ cycles.
.macro	turn_odd_rows up
	.irp	word, r4, r5, r6, r7, r8, r9, r10, r11
	.if	\up
	and.w	r0, \word, #0x3f003f00
	and.w	r1, \word, #0xc000c000
	.else
	and.w	r0, \word, #0x03000300
	and.w	r1, \word, #0xfc00fc00
	.endif
	bic.w	\word, \word, #0xff00ff00
	.if	\up
	orr.w	\word, \word, r0, lsl #2
	orr.w	\word, \word, r1, lsr #6
	.else
	orr.w	\word, \word, r0, lsl #6
	orr.w	\word, \word, r1, lsr #2
	.endif
	.endr
.endm

@ ------------------------------------------------------------------ rounds

@ A word of MixColumns after n rounds, when the word above it is in `above` but for this word's
@ part. With a of a row, c of the row below it: the sum of both, which twice is the word above's,
@ and c, and the sum two rows further down. The row below stands n columns further, 2 n bits.
@ Clobbers r1, r2; r0 becomes the sum. 3, 9, 6 or 9 cycles, one more where there is `above`.
.macro	mix_word n, a, above
	.if	\n == 0
	eor.w	r0, \a, \a, ror #8
	.elseif	\n == 1
	and.w	r1, \a, #0xfcfcfcfc
	and.w	r2, \a, #0x03030303
	eor.w	r0, \a, r1, ror #10
	eor.w	r0, r0, r2, ror #2
	.elseif	\n == 2
	and.w	r1, \a, #0xf0f0f0f0
	and.w	r2, \a, #0x0f0f0f0f
	eor.w	r0, \a, r1, ror #12
	eor.w	r0, r0, r2, ror #4
	.else
	and.w	r1, \a, #0xc0c0c0c0
	and.w	r2, \a, #0x3f3f3f3f
	eor.w	r0, \a, r1, ror #14
	eor.w	r0, r0, r2, ror #6
	.endif
	.ifnb	\above
	eor.w	\above, \above, r0
	.endif
	eor.w	\a, \a, r0
	.if	\n == 1 || \n == 3
	and.w	r1, r0, #0xf0f0f0f0
	and.w	r2, r0, #0x0f0f0f0f
	eor.w	\a, \a, r1, ror #20
	eor.w	\a, \a, r2, ror #12
	.else
	eor.w	\a, \a, r0, ror #16
	.endif
.endm

@ MixColumns after n rounds on r4 to r11. Twice a polynomial is modulo x^8 + x^4 + x^3 + x + 1.
@ Clobbers r0-r3.
.macro	mix_columns n
	mix_word	\n, r11
	mov.w	r3, r0
	mix_word	\n, r10, r11
	mix_word	\n, r9, r10
	mix_word	\n, r8, r9
	mix_word	\n, r7, r8
	mix_word	\n, r6, r7
	mix_word	\n, r5, r6
	mix_word	\n, r4, r5
	eor.w	r4, r4, r3
	eor.w	r5, r5, r3
	eor.w	r7, r7, r3
	eor.w	r8, r8, r3
.endm

@ Adds the next round key to r4 to r11. Out: r12 the address of the one after. Clobbers r0-r3. 21
@ cycles.
.macro	add_key
	ldr.w	r12, [sp, #NEXT_KEY]
	ldmia.w	r12!, {r0-r3}
	eor.w	r4, r4, r0
	eor.w	r5, r5, r1
	eor.w	r6, r6, r2
	eor.w	r7, r7, r3
	ldmia.w	r12!, {r0-r3}
	eor.w	r8, r8, r0
	eor.w	r9, r9, r1
	eor.w	r10, r10, r2
	eor.w	r11, r11, r3
	str.w	r12, [sp, #NEXT_KEY]
.endm

.macro	round n
	bl	substitute
	mix_columns	\n
	add_key
.endm

@ ------------------------------------------------------------------ round keys

@ A word of the next round key, in `word`, from that of SubBytes there, and from that of the present
@ key. The last column of SubBytes, a row up, and the constant in r12 are added to the first column,
@ and columns to those behind them. Clobbers r0, r1.
.macro	expand_word word, bit, complemented
	ldr.w	r0, [sp, #STREAM + 4 * \bit]
	and.w	\word, \word, #0xc0c0c0c0
	ubfx	r1, r12, #\bit, #1
	eor.w	r0, r0, \word, ror #14
	orr.w	r1, r1, r1, lsl #1
	.if	\complemented
	eor.w	r0, r0, #0x03030303
	.endif
	eor.w	r0, r0, r1
	and.w	r1, r0, #0x3f3f3f3f
	eor.w	r0, r0, r1, lsl #2
	and.w	r1, r0, #0x0f0f0f0f
	eor.w	\word, r0, r1, lsl #4
.endm

@ ------------------------------------------------------------------ counter mode

@ void ws_aes128_ctr_sliced(const uint8_t key[16], const uint8_t iv[16], const uint8_t *in,
@                           uint8_t *out, size_t len)
@ In: r0 key, r1 iv, r2 in, r3 out, any alignment, on the stack len. Out: none; out is written.
@ Clobbers r0-r3, r12, flags.
@ Stack: 516 bytes, of which all but the caller's registers are wiped.
@ Cycles on Cortex-M4 without wait states, call included: 3965, and 2787 for each two blocks.
	.balign	4
	.global	ws_aes128_ctr_sliced
	.type	ws_aes128_ctr_sliced, %function
	.thumb_func
ws_aes128_ctr_sliced:
	push.w	{r4-r11, lr}
	sub.w	sp, sp, #FRAME
	ldr.w	r12, [sp, #LENGTH]
	cmp.w	r12, #0
	beq.w	.Lwipe
	str.w	r2, [sp, #IN]
	str.w	r3, [sp, #OUT]
	str.w	r12, [sp, #LEFT]
	mov.w	r12, #1
	str.w	r12, [sp, #CONSTANT]
	ldr.w	r4, [r1]
	ldr.w	r5, [r1, #4]
	ldr.w	r6, [r1, #8]
	ldr.w	r7, [r1, #12]
	rev.w	r4, r4
	rev.w	r5, r5
	rev.w	r6, r6
	rev.w	r7, r7
	add.w	r12, sp, #COUNTER
	stmia.w	r12, {r4-r7}
	ldr.w	r4, [r0]
	ldr.w	r6, [r0, #4]
	ldr.w	r8, [r0, #8]
	ldr.w	r10, [r0, #12]
	mov.w	r5, r4
	mov.w	r7, r6
	mov.w	r9, r8
	mov.w	r11, r10
	bl	transpose
	add.w	r0, sp, #KEYS
	stmia.w	r0!, {r4-r11}
	str.w	r0, [sp, #NEXT_KEY]
	add.w	r12, sp, #STREAM
	stmia.w	r12, {r4-r11}

.Lexpand:
	bl	substitute
	ldr.w	r12, [sp, #CONSTANT]
	expand_word	r4, 0, 1
	expand_word	r5, 1, 1
	expand_word	r6, 2, 0
	expand_word	r7, 3, 0
	expand_word	r8, 4, 0
	expand_word	r9, 5, 1
	expand_word	r10, 6, 1
	expand_word	r11, 7, 0
	lsl.w	r12, r12, #1
	cmp.w	r12, #0x100
	it	eq
	moveq.w	r12, #0x1b
	str.w	r12, [sp, #CONSTANT]
	add.w	r12, sp, #STREAM
	stmia.w	r12, {r4-r11}
	@ 32 times the round is where its key goes.
	ldr.w	r2, [sp, #NEXT_KEY]
	add.w	r0, sp, #KEYS
	sub.w	r1, r2, r0
	tst.w	r1, #32
	beq.w	2f
	mov.w	r3, #0x0f000000
	orr.w	r3, r3, #0x000f0000
	change_halves	r3
	tst.w	r1, #64
	bne.w	1f
	turn_odd_rows	1
	b.w	3f
1:	turn_odd_rows	0
	b.w	3f
2:	tst.w	r1, #64
	beq.w	3f
	change_halves	#0x0f000f00
3:	mvn.w	r4, r4
	mvn.w	r5, r5
	mvn.w	r9, r9
	mvn.w	r10, r10
	stmia.w	r2!, {r4-r11}
	add.w	r12, sp, #STREAM
	add.w	r0, sp, #FRAME
	str.w	r2, [sp, #NEXT_KEY]
	cmp.w	r2, r0
	ldmia.w	r12, {r4-r11}
	bne.w	.Lexpand

.Lblocks:
	add.w	r12, sp, #COUNTER
	ldmia.w	r12, {r0-r3}
	rev.w	r4, r0
	rev.w	r6, r1
	rev.w	r8, r2
	rev.w	r10, r3
	adds.w	r3, r3, #1
	adcs.w	r2, r2, #0
	adcs.w	r1, r1, #0
	adc.w	r0, r0, #0
	rev.w	r5, r0
	rev.w	r7, r1
	rev.w	r9, r2
	rev.w	r11, r3
	adds.w	r3, r3, #1
	adcs.w	r2, r2, #0
	adcs.w	r1, r1, #0
	adc.w	r0, r0, #0
	stmia.w	r12, {r0-r3}
	bl	transpose
	add.w	r0, sp, #KEYS
	str.w	r0, [sp, #NEXT_KEY]
	add_key
.Lrounds:
	round	1
	addw	r0, sp, #KEYS + 10 * 32
	cmp.w	r12, r0
	beq.w	1f
	round	2
	round	3
	round	0
	b.w	.Lrounds
1:	bl	substitute
	add_key
	change_halves	#0x0f000f00
	bl	transpose
	add.w	r2, sp, #STREAM
	str.w	r4, [r2]
	str.w	r6, [r2, #4]
	str.w	r8, [r2, #8]
	str.w	r10, [r2, #12]
	str.w	r5, [r2, #16]
	str.w	r7, [r2, #20]
	str.w	r9, [r2, #24]
	str.w	r11, [r2, #28]
	mov.w	r12, #32
	ldr.w	r0, [sp, #IN]
	ldr.w	r1, [sp, #OUT]
	ldr.w	r3, [sp, #LEFT]
	cmp.w	r3, #32
	it	lo
	movlo.w	r12, r3
	sub.w	r3, r3, r12
	str.w	r3, [sp, #LEFT]
	subs.w	r12, r12, #4
	blo.w	3f
2:	ldr.w	r4, [r0], #4
	ldr.w	r5, [r2], #4
	subs.w	r12, r12, #4
	eor.w	r4, r4, r5
	str.w	r4, [r1], #4
	bhs.w	2b
3:	adds.w	r12, r12, #4
	beq.w	5f
4:	ldrb.w	r4, [r0], #1
	ldrb.w	r5, [r2], #1
	subs.w	r12, r12, #1
	eor.w	r4, r4, r5
	strb.w	r4, [r1], #1
	bne.w	4b
5:	str.w	r0, [sp, #IN]
	str.w	r1, [sp, #OUT]
	cmp.w	r3, #0
	bne.w	.Lblocks

.Lwipe:
	mov.w	r0, #0
	mov.w	r1, #0
	mov.w	r2, #0
	mov.w	r3, #0
	mov.w	r12, #FRAME / 16
1:	subs.w	r12, r12, #1
	stmia.w	sp!, {r0-r3}
	bne.w	1b
	pop.w	{r4-r11, pc}
	.size	ws_aes128_ctr_sliced, . - ws_aes128_ctr_sliced
