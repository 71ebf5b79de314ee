@ AES for Cortex-M7: aes.h's functions in an order for two instructions a cycle.
@ aes_fast.S, with the tables, includes this file. ARM publishes no cycle table of the core; the
@ order follows LLVM's scheduling model, ARMScheduleM7.td. The cycles given are those of a
@ processor model by it, the call included, caches and branch predictor warm.
@
@ Constant time: no branch and no instruction's duration depends on a secret. Table
@ addresses do. The tables lie in DTCM, behind no cache; but DTCM is two memories, for even and for
@ odd words (DDI 0489, D0TCM and D1TCM), and of two loads issued together one waits if both go
@ to the same. So a table's entries lie eight bytes apart, and whichever entry a load takes, it goes
@ to the half that its instruction names. An entry of secret_table_aes_te is the same word twice, one of secret_table_aes_td
@ its word and the byte of the inverse S-box. `in` and `out` need no alignment.

@ ------------------------------------------------------------------ one round

@ s0..s3: the state's columns, overwritten. t0..t3: the result. x0..x2: scratch. Byte k of
@ column s(i) goes to t(i - k mod 4), which is ShiftRows; called with the columns 0, 3, 2, 1
@ and `inverse` 1 it is InvShiftRows. The round key is at r0 + at; with `wipe` 1 it is overwritten by
@ the table's address. `full` is 1 of a whole round (table words), else 0 or `last` (bytes).
@ The bytes of s0 are in x0, x1, x2, s0 on entry (`bytes_of`); a whole round leaves those of
@ t0 in x0, x1, x2, t0. 52 instructions, 56 with `wipe`: two rounds take 55 and 61 cycles.
.set	last, 0
.macro	aes_round full, inverse, wipe, at, s0, s1, s2, s3, t0, t1, t2, t3, x0, x1, x2
	lookup	\full, \x0
	ldr.w	\t1, [r0, #\at + 4 + 8 * \inverse]
	lookup	\full, \s0
	ldr.w	\t3, [r0, #\at + 12 - 8 * \inverse]
	lookup	\full, \x1
	wiped	\wipe, \at + 12 - 8 * \inverse
	lookup	\full, \x2
	add_in	\full, 24, \t1, \s0
	uxtb.w	\s0, \s1, ror #8
	add_in	\full, 8, \t3, \x1
	uxtb.w	\x1, \s1, ror #16
	ldr.w	\t0, [r0, #\at]
	lookup	\full, \s0
	eor.w	\t0, \t0, \x0
	uxtb.w	\x0, \s1
	lookup	\full, \x1
	lsr.w	\s1, \s1, #24
	ldr.w	\t2, [r0, #\at + 8]
	lookup	\full, \x0
	add_in	\full, 8, \t0, \s0
	uxtb.w	\s0, \s2, ror #8
	lookup	\full, \s1
	add_in	\full, 16, \t3, \x1
	eor.w	\t1, \t1, \x0
	uxtb.w	\x0, \s2, ror #16
	lookup	\full, \s0
	uxtb.w	\x1, \s2
	lsr.w	\s2, \s2, #24
	lookup	\full, \x0
	add_in	\full, 16, \t2, \x2
	lookup	\full, \s2
	lsr.w	\x2, \s3, #24
	lookup	\full, \x1
	add_in	\full, 24, \t2, \s1
	uxtb.w	\s1, \s3, ror #8
	lookup	\full, \x2
	add_in	\full, 16, \t0, \x0
	eor.w	\t2, \t2, \x1
	uxtb.w	\x1, \s3
	lookup	\full, \s1
	uxtb.w	\s3, \s3, ror #16
	add_in	\full, 24, \t3, \s2
	lookup	\full, \x1
	add_in	\full, 8, \t2, \s1
	lookup	\full, \s3
	add_in	\full, 24, \t0, \x2
	.if	\full
	uxtb.w	\x2, \t0, ror #16
	.endif
	add_in	\full, 8, \t1, \s0
	.if	\full
	uxtb.w	\x0, \t0
	.endif
	eor.w	\t3, \t3, \x1
	.if	\full
	uxtb.w	\x1, \t0, ror #8
	lsr.w	\t0, \t0, #24
	.endif
	add_in	\full, 16, \t1, \s3
	wiped	\wipe, \at + 8
	wiped	\wipe, \at
	wiped	\wipe, \at + 4 + 8 * \inverse
.endm

@ x = table[x], r12 the table: words or bytes; r1 that of the bytes where `full` is `last`.
.macro	lookup full, x
	.ifc	\full, last
	ldrb.w	\x, [r1, \x, lsl #3]
	.elseif	\full
	ldr.w	\x, [r12, \x, lsl #3]
	.else
	ldrb.w	\x, [r12, \x, lsl #3]
	.endif
.endm

@ Adds the entry of a byte that stood `by` bits up.
.macro	add_in full, by, t, x
	.if	\full
	eor.w	\t, \t, \x, ror #(32 - \by)
	.else
	eor.w	\t, \t, \x, lsl #\by
	.endif
.endm

.macro	wiped wipe, at:vararg
	.if	\wipe
	str.w	r12, [r0, #\at]
	.endif
.endm

@ The bytes of s from the lowest up: x0, x1, x2, s.
.macro	bytes_of s, x0, x1, x2
	uxtb.w	\x0, \s
	uxtb.w	\x1, \s, ror #8
	uxtb.w	\x2, \s, ror #16
	lsr.w	\s, \s, #24
.endm

@ ------------------------------------------------------------------ encryption

@ void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
@                     const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys (4-byte aligned), r1 rounds, r2 in, r3 out. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 40 bytes, no secret among them but the caller's
@ own registers. Two rounds are one unit, so that the state goes from r8-r11 to r4-r7 and back
@ without a move; AES-128's ten rounds are in line. 288, 344 and 408 cycles for 10, 12 and 14
@ rounds.
	.section .text.ws_aes_encrypt, "ax", %progbits
	.balign	8
	.global	ws_aes_encrypt
	.type	ws_aes_encrypt, %function
	.thumb_func
ws_aes_encrypt:
	push.w	{r3-r11, lr}
	ldr.w	r8, [r2]
	ldr.w	r4, [r0]
	ldr.w	r9, [r2, #4]
	ldr.w	r5, [r0, #4]
	ldr.w	r10, [r2, #8]
	eor.w	r8, r8, r4
	ldr.w	r6, [r0, #8]
	eor.w	r9, r9, r5
	ldr.w	r11, [r2, #12]
	movw	r12, #:lower16:secret_table_aes_te
	uxtb.w	r2, r8
	ldr.w	r7, [r0, #12]
	uxtb.w	r3, r8, ror #8
	eor.w	r10, r10, r6
	uxtb.w	lr, r8, ror #16
	lsr.w	r8, r8, #24
	movt	r12, #:upper16:secret_table_aes_te
	eor.w	r11, r11, r7
	cmp.w	r1, #10
	bne.w	2f
1:	add.w	r1, r12, #1
	.irp	at, 16, 48, 80, 112
	aes_round 1, 0, 0, \at, r8, r9, r10, r11, r4, r5, r6, r7, r2, r3, lr
	aes_round 1, 0, 0, \at + 16, r4, r5, r6, r7, r8, r9, r10, r11, r2, r3, lr
	.endr
	aes_round 1, 0, 0, 144, r8, r9, r10, r11, r4, r5, r6, r7, r2, r3, lr
	aes_round last, 0, 0, 160, r4, r5, r6, r7, r8, r9, r10, r11, r2, r3, lr
	ldr.w	r1, [sp]
	str.w	r8, [r1]
	str.w	r9, [r1, #4]
	str.w	r10, [r1, #8]
	str.w	r11, [r1, #12]
	pop.w	{r3-r11, pc}
	@ Longer keys: two rounds a turn, until ten are left.
	.balign	8
2:	aes_round 1, 0, 0, 16, r8, r9, r10, r11, r4, r5, r6, r7, r2, r3, lr
	aes_round 1, 0, 0, 32, r4, r5, r6, r7, r8, r9, r10, r11, r2, r3, lr
	add.w	r0, r0, #32
	sub.w	r1, r1, #2
	cmp.w	r1, #10
	bne.w	2b
	b.w	1b
	.size	ws_aes_encrypt, . - ws_aes_encrypt

@ ------------------------------------------------------------------ decryption

@ w = InvMixColumns(w). InvMixColumns = MixColumns of w + 04·(w + w rotated by 16);
@ MixColumns = 02·t + w rotated by 8 + t rotated by 16, t = w + w rotated by 8 (FIPS-197,
@ 5.3.3 and 5.1.3). Bytes are doubled four at a time: UADD8 doubles them and marks those that
@ overflow, from which SEL makes what is to be added. lr = 0x1b1b1b1b, r2 = 0; t, u, x: scratch.
@ f0 to f10: instructions for the gaps.
.macro	inverse_mix_columns w, t, u, x, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10
	eor.w	\t, \w, \w, ror #16
	\f0
	uadd8	\t, \t, \t
	\f1
	sel	\u, lr, r2
	\f2
	eor.w	\t, \t, \u
	\f3
	uadd8	\t, \t, \t
	\f4
	sel	\u, lr, r2
	\f5
	eor.w	\t, \t, \u
	\f6
	eor.w	\w, \w, \t
	\f7
	eor.w	\t, \w, \w, ror #8
	\f8
	uadd8	\x, \t, \t
	\f9
	sel	\u, lr, r2
	eor.w	\w, \w, \t, ror #8
	eor.w	\x, \x, \u
	\f10
	eor.w	\w, \x, \w, ror #8
.endm

@ The same of a and b, one in the gaps of the other; f0 to f7 are for those left. t, u, v,
@ x: scratch.
.macro	inverse_mix_columns_2 a, b, t, u, v, x, f0, f1, f2, f3, f4, f5, f6, f7
	eor.w	\t, \a, \a, ror #16
	\f0
	uadd8	\t, \t, \t
	eor.w	\v, \b, \b, ror #16
	sel	\u, lr, r2
	\f1
	uadd8	\v, \v, \v
	eor.w	\t, \t, \u
	sel	\u, lr, r2
	\f2
	uadd8	\t, \t, \t
	eor.w	\v, \v, \u
	sel	\u, lr, r2
	\f3
	uadd8	\v, \v, \v
	eor.w	\t, \t, \u
	sel	\u, lr, r2
	eor.w	\a, \a, \t
	eor.w	\v, \v, \u
	\f4
	eor.w	\t, \a, \a, ror #8
	eor.w	\b, \b, \v
	uadd8	\x, \t, \t
	\f5
	sel	\u, lr, r2
	eor.w	\a, \a, \t, ror #8
	eor.w	\x, \x, \u
	eor.w	\v, \b, \b, ror #8
	uadd8	\t, \v, \v
	eor.w	\a, \x, \a, ror #8
	sel	\u, lr, r2
	eor.w	\b, \b, \v, ror #8
	eor.w	\t, \t, \u
	\f6
	\f7
	eor.w	\b, \t, \b, ror #8
.endm

@ void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
@                     const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys as ws_aes_expand leaves them (4-byte aligned), r1 rounds, r2 in,
@ r3 out. Out: none. Clobbers r0-r3, r12, flags. Stack: 48 + 16·(rounds - 1) bytes;
@ the round keys in there are overwritten before the return.
@ The rounds are encryption's, with inverted tables; for that the middle round keys must
@ have gone through InvMixColumns (FIPS-197, 5.3.5). InvMixColumns is linear, and
@ most words of the schedule are sums, w[i] = w[i - Nk] + w[i - 1]: from the top down,
@ only one word in four (AES-192: in six) has to be transformed, the others are one
@ exclusive or each. 502, 609 and 784 cycles for 10, 12 and 14 rounds.
	.section .text.ws_aes_decrypt, "ax", %progbits
	.balign	8
	.global	ws_aes_decrypt
	.type	ws_aes_decrypt, %function
	.thumb_func
ws_aes_decrypt:
	push.w	{r0, r2-r11, lr}
	lsl.w	r2, r1, #4
	mov	r3, sp
	add.w	r0, r0, r2
	sub.w	r2, r2, #16
	sub.w	sp, sp, r2
	mov.w	lr, #0x1b1b1b1b
	mov.w	r2, #0
	mov.w	r8, #0
	@ The top round key's Nk words have no sums yet: AES-256 comes here twice.
.Lseed:
	ldr.w	r7, [r0, #-4]
	ldr.w	r6, [r0, #-8]
	ldr.w	r5, [r0, #-12]
	ldr.w	r4, [r0, #-16]!
	inverse_mix_columns_2 r7, r6, r9, r10, r11, r12
	inverse_mix_columns_2 r5, r4, r9, r10, r11, r12, "str.w r7, [r3, #-4]", "str.w r6, [r3, #-8]"
	str.w	r5, [r3, #-12]
	str.w	r4, [r3, #-16]!
	cmp	r1, #12
	beq	.Lmiddle_keys_192
	bhi	.Lmiddle_keys_256

	@ Two round keys a turn.
	.balign	8
1:	ldr.w	r8, [r0, #-16]
	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	eor.w	r5, r5, r4
	ldr.w	r4, [r0, #-32]!
	inverse_mix_columns_2 r8, r4, r9, r10, r11, r12, \
		"str.w r7, [r3, #-4]", "str.w r6, [r3, #-8]", "eor.w r7, r7, r6", "str.w r5, [r3, #-12]", \
		"eor.w r6, r6, r5", "str.w r7, [r3, #-20]", "eor.w r5, r5, r8", "str.w r6, [r3, #-24]"
	str.w	r8, [r3, #-16]
	str.w	r5, [r3, #-28]
	str.w	r4, [r3, #-32]!
	cmp	sp, r3
	bne.w	1b

.Lrounds:
	@ r0 = w + 4, r1 = rounds, sp = the middle round keys, `in` and `out` beyond them.
	lsl.w	r3, r1, #4
	add.w	r2, sp, r3
	add.w	r3, r3, r0
	ldr.w	lr, [r2, #-12]
	ldr.w	r4, [r3, #-16]
	ldr.w	r8, [lr]
	ldr.w	r5, [r3, #-12]
	ldr.w	r9, [lr, #4]
	ldr.w	r6, [r3, #-8]
	eor.w	r8, r8, r4
	ldr.w	r10, [lr, #8]
	ldr.w	r7, [r3, #-4]
	eor.w	r9, r9, r5
	ldr.w	r11, [lr, #12]
	movw	r12, #:lower16:secret_table_aes_td
	eor.w	r10, r10, r6
	movt	r12, #:upper16:secret_table_aes_td
	sub.w	r0, r2, #16
	uxtb.w	r2, r8
	eor.w	r11, r11, r7
	uxtb.w	r3, r8, ror #8
	mov	r1, r0
	uxtb.w	lr, r8, ror #16
	lsr.w	r8, r8, #24
	b.w	4f
	.balign	8
3:	sub.w	r0, r0, #32
	aes_round 1, 1, 1, 0, r4, r7, r6, r5, r8, r11, r10, r9, r2, r3, lr
4:	aes_round 1, 1, 1, -16, r8, r11, r10, r9, r4, r7, r6, r5, r2, r3, lr
	sub.w	r8, r0, #16
	cmp	sp, r8
	bne.w	3b
	@ r1: the saved registers, of which the first is the lowest round key's address.
	ldr.w	r0, [r1]
	add.w	r12, r12, #4
	aes_round 0, 1, 0, 0, r4, r7, r6, r5, r8, r11, r10, r9, r2, r3, lr
	ldr.w	r0, [r1, #8]
	add.w	r1, r1, #12
	mov	sp, r1
	str.w	r8, [r0]
	str.w	r9, [r0, #4]
	str.w	r10, [r0, #8]
	str.w	r11, [r0, #12]
	pop.w	{r4-r11, pc}

.Lmiddle_keys_192:
	@ Words 44 to 47 are done. 42 and 43 complete the top six, of which 42 starts a
	@ group: from here on six words a turn, 36 to 41 down to 6 to 11, then 4 and 5.
	@ The group's words lie in r8, r12, r4-r7.
	ldr.w	r12, [r0, #-4]
	ldr.w	r8, [r0, #-8]!
	inverse_mix_columns_2 r12, r8, r9, r10, r11, r1
	str.w	r12, [r3, #-4]
	str.w	r8, [r3, #-8]!
	.balign	8
1:	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	eor.w	r5, r5, r4
	eor.w	r4, r4, r12
	eor.w	r12, r12, r8
	ldr.w	r8, [r0, #-24]!
	inverse_mix_columns r8, r9, r10, r11, \
		"str.w r7, [r3, #-4]", "str.w r6, [r3, #-8]", "str.w r5, [r3, #-12]", "str.w r4, [r3, #-16]", \
		"str.w r12, [r3, #-20]", "add r1, sp, #8"
	str.w	r8, [r3, #-24]!
	cmp	r3, r1
	bne.w	1b
	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	str.w	r7, [r3, #-4]
	str.w	r6, [r3, #-8]
	sub.w	r0, r0, #8
	mov	r1, #12
	b.w	.Lrounds

.Lmiddle_keys_256:
	@ The top eight words have no sums: one more pass, which r8 = 1 marks. Then each turn
	@ makes words i to i + 3 of words i + 8 to i + 11 and w[i], i = 44 down to 4.
	cmp	r8, #0
	bne	1f
	mov.w	r8, #1
	b.w	.Lseed
	.balign	8
1:	ldr.w	r4, [r0, #-16]!
	ldr.w	r7, [r3, #28]
	ldr.w	r6, [r3, #24]
	inverse_mix_columns r4, r9, r10, r11, \
		"ldr.w r5, [r3, #20]", "eor.w r7, r7, r6", "ldr.w r8, [r3, #16]", "eor.w r6, r6, r5", \
		"str.w r7, [r3, #-4]", "eor.w r5, r5, r8", "str.w r6, [r3, #-8]", "str.w r5, [r3, #-12]"
	str.w	r4, [r3, #-16]!
	cmp	sp, r3
	bne.w	1b
	b.w	.Lrounds
	.size	ws_aes_decrypt, . - ws_aes_decrypt

#include "aes_prepared_m7.inc"

@ ------------------------------------------------------------------ key expansion

@ void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
@ In: r0 round keys (4-byte aligned), r1 key (any alignment), r2 words of the key: 4, 6
@ or 8. Out: none. Clobbers r0-r3, r12, flags. Stack: 24 bytes (AES-128) or 40, no secret
@ among them but the caller's own registers.
@ SubWord's four loads find the S-box in byte 1 of either half of the table's entries. AES-128
@ is unrolled with the round constants in it; the longer keys, with at most eight constants, none of
@ them reduced, loop with the constant in r11 or on the stack, where it also counts.
@ 129, 142 and 215 cycles for 4, 6 and 8 words.
	.section .text.ws_aes_expand, "ax", %progbits
	.balign	8
	.global	ws_aes_expand
	.type	ws_aes_expand, %function
	.thumb_func
ws_aes_expand:
	cmp	r2, #6
	bhs	1f
	push	{r4-r8, lr}
	ldr.w	r4, [r1]
	ldr.w	r5, [r1, #4]
	movw	r12, #:lower16:secret_table_aes_te + 1
	ldr.w	r6, [r1, #8]
	movt	r12, #:upper16:secret_table_aes_te + 1
	ldr.w	r7, [r1, #12]
	add.w	r8, r12, #4
	@ r5 and r6 are sums on entry to a round, which the round completes. With the last
	@ word so far w3, the next one is w3 + w2 + w1 + the first of its four, and w2 + w1 is r6.
	eor.w	r6, r6, r5
	eor.w	r5, r5, r4
	.set	at, 0
	.irp	rcon, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
	uxtb.w	r1, r7
	lsr.w	lr, r7, #24
	uxtb.w	r3, r7, ror #16
	eor.w	r5, r5, r4
	uxtb.w	r2, r7, ror #8
	ldrb.w	r1, [r12, r1, lsl #3]
	ldrb.w	lr, [r12, lr, lsl #3]
	ldrb.w	r3, [r8, r3, lsl #3]
	ldrb.w	r2, [r12, r2, lsl #3]
	str.w	r4, [r0, #at]
	eor.w	r4, r4, r1, lsl #24
	str.w	r7, [r0, #at + 12]
	eor.w	r4, r4, lr, lsl #16
	eor.w	r7, r7, r6
	eor.w	r2, r2, r3, lsl #8
	eor.w	r4, r4, #\rcon
	str.w	r5, [r0, #at + 4]
	eor.w	r6, r6, r5
	eor.w	r4, r4, r2
	str.w	r6, [r0, #at + 8]
	eor.w	r7, r7, r4
	.set	at, at + 16
	.endr
	eor.w	r5, r5, r4
	str.w	r4, [r0, #at]
	eor.w	r6, r6, r5
	str.w	r5, [r0, #at + 4]
	str.w	r6, [r0, #at + 8]
	str.w	r7, [r0, #at + 12]
	pop	{r4-r8, pc}

1:	push.w	{r3-r11, lr}
	ldr.w	r4, [r1]
	ldr.w	r5, [r1, #4]
	movw	r12, #:lower16:secret_table_aes_te + 1
	ldr.w	r6, [r1, #8]
	movt	r12, #:upper16:secret_table_aes_te + 1
	ldr.w	r7, [r1, #12]
	ldr.w	r8, [r1, #16]
	ldr.w	r9, [r1, #20]
	bne	3f

	mov.w	r11, #1
	add.w	r10, r12, #4
	.balign	8
2:	uxtb.w	r1, r9
	lsr.w	lr, r9, #24
	uxtb.w	r3, r9, ror #16
	str.w	r4, [r0]
	uxtb.w	r2, r9, ror #8
	ldrb.w	r1, [r12, r1, lsl #3]
	ldrb.w	lr, [r12, lr, lsl #3]
	ldrb.w	r3, [r10, r3, lsl #3]
	ldrb.w	r2, [r12, r2, lsl #3]
	str.w	r5, [r0, #4]
	eor.w	r4, r4, r1, lsl #24
	str.w	r6, [r0, #8]
	eor.w	r4, r4, lr, lsl #16
	str.w	r7, [r0, #12]
	eor.w	r2, r2, r3, lsl #8
	eor.w	r4, r4, r11
	lsl.w	r11, r11, #1
	eor.w	r4, r4, r2
	str.w	r8, [r0, #16]
	eor.w	r5, r5, r4
	str.w	r9, [r0, #20]
	eor.w	r6, r6, r5
	add.w	r0, r0, #24
	eor.w	r7, r7, r6
	cmp.w	r11, #0x100
	eor.w	r8, r8, r7
	eor.w	r9, r9, r8
	bne.w	2b
	b.w	5f

3:	ldr.w	r10, [r1, #24]
	ldr.w	r11, [r1, #28]
	mov.w	r1, #1
	str.w	r1, [sp]
	.balign	8
4:	uxtb.w	r1, r11
	lsr.w	lr, r11, #24
	uxtb.w	r3, r11, ror #16
	str.w	r4, [r0]
	uxtb.w	r2, r11, ror #8
	ldrb.w	r1, [r12, r1, lsl #3]
	ldrb.w	lr, [r12, lr, lsl #3]
	str.w	r5, [r0, #4]
	ldrb.w	r3, [r12, r3, lsl #3]
	eor.w	r4, r4, r1, lsl #24
	ldrb.w	r2, [r12, r2, lsl #3]
	str.w	r6, [r0, #8]
	eor.w	r4, r4, lr, lsl #16
	ldr.w	r1, [sp]
	eor.w	r4, r4, r3, lsl #8
	str.w	r7, [r0, #12]
	eor.w	r2, r2, r1
	str.w	r8, [r0, #16]
	eor.w	r4, r4, r2
	str.w	r9, [r0, #20]
	eor.w	r5, r5, r4
	str.w	r10, [r0, #24]
	eor.w	r6, r6, r5
	str.w	r11, [r0, #28]
	eor.w	r7, r7, r6
	add.w	r0, r0, #32
	cmp	r1, #0x40
	beq	5f
	uxtb.w	r2, r7
	lsr.w	lr, r7, #24
	uxtb.w	r3, r7, ror #8
	lsl.w	r1, r1, #1
	str.w	r1, [sp]
	uxtb.w	r1, r7, ror #16
	ldrb.w	r3, [r12, r3, lsl #3]
	ldrb.w	lr, [r12, lr, lsl #3]
	ldrb.w	r1, [r12, r1, lsl #3]
	eor.w	r8, r8, r3, lsl #8
	ldrb.w	r2, [r12, r2, lsl #3]
	eor.w	r8, r8, lr, lsl #24
	eor.w	r8, r8, r1, lsl #16
	eor.w	r8, r8, r2
	eor.w	r9, r9, r8
	eor.w	r10, r10, r9
	eor.w	r11, r11, r10
	b.w	4b
5:	stmia.w	r0!, {r4-r7}
	pop.w	{r3-r11, pc}
	.size	ws_aes_expand, . - ws_aes_expand
