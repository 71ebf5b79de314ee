@ AES for ARMv7-M (Cortex-M3, M4 and M7): aes.h's functions.
@
@ One table of 256 words a direction. Its entry is SubBytes followed by one
@ column of MixColumns (FIPS-197, 5.1.3); the other three columns are rotations
@ of it, and ARM's second operand rotates for nothing.
@
@ Constant time: no branch and no instruction's duration depends on a secret.
@ Table addresses do. The tables are therefore in .data, which start-up copies to
@ RAM that no cache and no flash accelerator stands in front of: SRAM on
@ Cortex-M3 and M4, DTCM on Cortex-M7. A linker script that puts .data elsewhere
@ breaks this promise, and so does a build for Cortex-M7 without WS_TABLE_STRIDE=8
@ (table.h), which selects aes_m7.S.
@
@ The loads are grouped, because on Cortex-M3 and M4 a load right behind another
@ takes one cycle instead of two unless it writes its base back (ARM DDI 0439, 3.3.3), and
@ no load follows at once the instruction that makes its address. `in` and `out` need no alignment.

	.syntax unified
	.thumb

@ ------------------------------------------------------------------ tables

@ One word: 02·s, s, s, 03·s from the low byte up. Byte 1 alone is the S-box.
.macro	te_words s:vararg
	.irp	v, \s
	.word	(((\v << 1) ^ ((\v >> 7) * 0x11b)) * 0x01000001) ^ (\v * 0x01010100)
#if WS_TABLE_STRIDE == 8
	.word	(((\v << 1) ^ ((\v >> 7) * 0x11b)) * 0x01000001) ^ (\v * 0x01010100)
#endif
	.endr
.endm

	.section .data.ws_aes_te, "aw", %progbits
	.balign	4
	.type	secret_table_aes_te, %object
secret_table_aes_te:
	te_words 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
	te_words 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
	te_words 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
	te_words 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
	te_words 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
	te_words 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
	te_words 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
	te_words 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
	te_words 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
	te_words 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
	te_words 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
	te_words 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
	te_words 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
	te_words 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
	te_words 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
	te_words 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
	.size	secret_table_aes_te, . - secret_table_aes_te

@ One word: 0e·s, 09·s, 0d·s, 0b·s from the low byte up, each a sum of the products
@ by 8, 4, 2 and 1; these stay unreduced until the end.
.macro	td_words s:vararg
	.irp	v, \s
	td_word	(\v << 3), (\v << 2), (\v << 1), \v
#if WS_TABLE_STRIDE == 8
	.word	\v
#endif
	.endr
.endm
.macro	td_word x8, x4, x2, x1
	gf_byte	(\x8 ^ \x4 ^ \x2)
	gf_byte	(\x8 ^ \x1)
	gf_byte	(\x8 ^ \x4 ^ \x1)
	gf_byte	(\x8 ^ \x2 ^ \x1)
.endm
@ A byte: a polynomial of degree 10 or less, modulo x^8 + x^4 + x^3 + x + 1.
.macro	gf_byte p
	.byte	0xff & ((\p) ^ (((\p) >> 8 & 1) * 0x1b) ^ (((\p) >> 9 & 1) * 0x36) ^ (((\p) >> 10 & 1) * 0x6c))
.endm

	.section .data.ws_aes_td, "aw", %progbits
	.balign	4
	.type	secret_table_aes_td, %object
secret_table_aes_td:
	td_words 0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb
	td_words 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb
	td_words 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e
	td_words 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25
	td_words 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92
	td_words 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84
	td_words 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06
	td_words 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b
	td_words 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73
	td_words 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e
	td_words 0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b
	td_words 0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4
	td_words 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f
	td_words 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef
	td_words 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61
	td_words 0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d
	.size	secret_table_aes_td, . - secret_table_aes_td

#if WS_TABLE_STRIDE == 8
#include "aes_m7.S"
#else

	.section .data.ws_secret_table_aes_inverse_sbox, "aw", %progbits
	.balign	4
	.type	secret_table_aes_inverse_sbox, %object
secret_table_aes_inverse_sbox:
	.byte 0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb
	.byte 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb
	.byte 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e
	.byte 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25
	.byte 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92
	.byte 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84
	.byte 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06
	.byte 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b
	.byte 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73
	.byte 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e
	.byte 0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b
	.byte 0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4
	.byte 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f
	.byte 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef
	.byte 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61
	.byte 0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d
	.size	secret_table_aes_inverse_sbox, . - secret_table_aes_inverse_sbox

@ ------------------------------------------------------------------ one round

@ s0..s3: the state's columns, overwritten. t0..t3: the round key, then the result.
@ x0..x2: scratch. Byte k of column s(i) goes to t(i - k mod 4), which is ShiftRows;
@ called with the columns 0, 3, 2, 1 it is InvShiftRows.
@ `full` selects whole rounds (table words) against the last one (bytes).
@ `keys` is the macro that loads the round key. The bytes of s0 are in x0, x1, x2, s0 on
@ entry (`bytes_of`); a whole round leaves those of t0 in x0, x1, x2, t0.
@ 16 extractions, 20 loads in three groups, 16 exclusive ors: 55 cycles.
@ `step`: an instruction that moves r0. `wipe`: none, or where at r0 the round key lies that is to be overwritten after use (its
@ second word is left to the next round's `keys`). Before a group of loads a store takes no
@ time of its own: it spares the first load's second cycle. What it writes is the table's
@ address.
.macro	aes_round full, scale, wipe, step, keys, s0, s1, s2, s3, t0, t1, t2, t3, x0, x1, x2
	\keys
	lookup	\full, \scale, \x0
	lookup	\full, \scale, \x1
	lookup	\full, \scale, \x2
	lookup	\full, \scale, \s0
	eor.w	\t0, \t0, \x0
	uxtb.w	\x0, \s1
	add_in	\full, 8, \t3, \x1
	uxtb.w	\x1, \s1, ror #8
	add_in	\full, 16, \t2, \x2
	uxtb.w	\x2, \s1, ror #16
	add_in	\full, 24, \t1, \s0
	uxtb.w	\s0, \s2
	lsr.w	\s1, \s1, #24
	.ifnc	\wipe, none
	str.w	r12, [r0, #\wipe]
	.endif
	lookup	\full, \scale, \x0
	lookup	\full, \scale, \x1
	lookup	\full, \scale, \x2
	lookup	\full, \scale, \s0
	lookup	\full, \scale, \s1
	eor.w	\t1, \t1, \x0
	eor.w	\t2, \t2, \s0
	uxtb.w	\x0, \s2, ror #8
	add_in	\full, 8, \t0, \x1
	uxtb.w	\x1, \s2, ror #16
	add_in	\full, 16, \t3, \x2
	uxtb.w	\x2, \s3
	add_in	\full, 24, \t2, \s1
	uxtb.w	\s1, \s3, ror #16
	lsr.w	\s2, \s2, #24
	uxtb.w	\s0, \s3, ror #8
	lsr.w	\s3, \s3, #24
	.ifnc	\wipe, none
	str.w	r12, [r0, #\wipe + 8]
	str.w	r12, [r0, #\wipe + 12]
	.endif
	lookup	\full, \scale, \x0
	lookup	\full, \scale, \x1
	lookup	\full, \scale, \x2
	lookup	\full, \scale, \s1
	lookup	\full, \scale, \s2
	lookup	\full, \scale, \s0
	lookup	\full, \scale, \s3
	add_in	\full, 16, \t0, \x1
	add_in	\full, 8, \t1, \x0
	eor.w	\t3, \t3, \x2
	\step
	add_in	\full, 24, \t0, \s3
	.if	\full
	uxtb.w	\x0, \t0
	add_in	\full, 24, \t3, \s2
	uxtb.w	\x1, \t0, ror #8
	add_in	\full, 8, \t2, \s0
	uxtb.w	\x2, \t0, ror #16
	add_in	\full, 16, \t1, \s1
	lsr.w	\t0, \t0, #24
	.else
	add_in	\full, 24, \t3, \s2
	add_in	\full, 8, \t2, \s0
	add_in	\full, 16, \t1, \s1
	.endif
.endm

@ The bytes of s from the lowest up: x0, x1, x2, s.
.macro	bytes_of s, x0, x1, x2
	uxtb.w	\x0, \s
	uxtb.w	\x1, \s, ror #8
	uxtb.w	\x2, \s, ror #16
	lsr.w	\s, \s, #24
.endm

@ x = table[x], r12 the table: words, or bytes that lie 1 << scale apart.
.macro	lookup full, scale, x
	.if	\full
	ldr.w	\x, [r12, \x, lsl #2]
	.else
	ldrb.w	\x, [r12, \x, lsl #\scale]
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

@ The round key at r0 + at.
.macro	keys at, k0, k1, k2, k3
	ldr.w	\k0, [r0, #\at]
	ldr.w	\k1, [r0, #\at + 4]
	ldr.w	\k2, [r0, #\at + 8]
	ldr.w	\k3, [r0, #\at + 12]
.endm

@ The last round key, and the saved `out`, in the same group of loads.
.macro	last_keys at, k0, k1, k2, k3
	ldr.w	r1, [sp]
	keys	\at, \k0, \k1, \k2, \k3
.endm

@ The round key at r0 + at; the one before it, at r0 + at + 16, loses its second word.
.macro	keys_wiping at, k0, k1, k2, k3
	str.w	r12, [r0, #\at + 20]
	keys	\at, \k0, \k1, \k2, \k3
.endm

@ The first round key, whose address the saved r0 at r1 is, and then `out` into r0.
.macro	last_keys_down k0, k1, k2, k3
	str.w	r12, [r0, #-12]
	ldr.w	r0, [r1]
	keys	0, \k0, \k1, \k2, \k3
	ldr.w	r0, [r1, #8]
.endm

@ ------------------------------------------------------------------ encryption

@ void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
@                     const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys (4-byte aligned), r1 rounds, r2 in, r3 out. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 40 bytes, no secret among them but the caller's
@ own registers. Two rounds a turn, so that the state goes from r8-r11 to r4-r7 and back
@ without a move. Cycles on Cortex-M3 and M4 without wait states, call included: 619,
@ 733 and 847 for 10, 12 and 14 rounds.
	.section .text.ws_aes_encrypt, "ax", %progbits
	.balign	4
	.global	ws_aes_encrypt
	.type	ws_aes_encrypt, %function
	.thumb_func
ws_aes_encrypt:
	push.w	{r3-r11, lr}
	movw	r12, #:lower16:secret_table_aes_te
	movt	r12, #:upper16:secret_table_aes_te
	ldr.w	r8, [r2]
	ldr.w	r9, [r2, #4]
	ldr.w	r10, [r2, #8]
	ldr.w	r11, [r2, #12]
	ldr.w	r4, [r0]
	ldr.w	r5, [r0, #4]
	ldr.w	r6, [r0, #8]
	ldr.w	r7, [r0, #12]
	lsr.w	r1, r1, #1
	eor.w	r8, r8, r4
	eor.w	r9, r9, r5
	eor.w	r10, r10, r6
	eor.w	r11, r11, r7
	bytes_of r8, r2, r3, lr
	b.w	2f
1:	aes_round 1, 2, none, "add.w r0, r0, #32", "keys 32, r8, r9, r10, r11", r4, r5, r6, r7, r8, r9, r10, r11, r2, r3, lr
2:	aes_round 1, 2, none,, "keys 16, r4, r5, r6, r7", r8, r9, r10, r11, r4, r5, r6, r7, r2, r3, lr
	subs.w	r1, r1, #1
	bne.w	1b
	add.w	r12, r12, #1
	aes_round 0, 2, none,, "last_keys 32, r8, r9, r10, r11", r4, r5, r6, r7, r8, r9, r10, r11, r2, r3, lr
	str.w	r8, [r1]
	str.w	r9, [r1, #4]
	str.w	r10, [r1, #8]
	str.w	r11, [r1, #12]
	pop.w	{r3-r11, pc}
	.size	ws_aes_encrypt, . - ws_aes_encrypt

@ ------------------------------------------------------------------ decryption

@ w = InvMixColumns(w). r11 = 0x01010101, r12 = 0x1b, lr = 0x36; t, u, v: scratch.
@ Four bytes at a time: InvMixColumns = MixColumns of w + 04·(w + w rotated by 16), and
@ 04·t is t << 2 with 0x36 and 0x1b added for the two bits that leave a byte. The
@ multiplications are 32 bits by 32 to 32, one cycle whatever the operands. 16 cycles.
.macro	inverse_mix_columns w, t, u, v
	eor.w	\t, \w, \w, ror #16
	and.w	\u, r11, \t, lsr #7
	and.w	\v, r11, \t, lsr #6
	bic.w	\t, \t, #0xc0c0c0c0
	mul	\u, \u, lr
	mul	\v, \v, r12
	eor.w	\w, \w, \t, lsl #2
	eor.w	\w, \w, \u
	eor.w	\w, \w, \v
	eor.w	\t, \w, \w, ror #8
	and.w	\u, r11, \t, lsr #7
	mul	\u, \u, r12
	eor.w	\u, \u, \w, ror #8
	eor.w	\u, \u, \t, ror #16
	bic.w	\t, \t, #0x80808080
	eor.w	\w, \u, \t, lsl #1
.endm

@ Stores four words right below r3 and moves r3 there.
.macro	store_down d0, d1, d2, d3
	str.w	\d0, [r3, #-16]!
	str.w	\d1, [r3, #4]
	str.w	\d2, [r3, #8]
	str.w	\d3, [r3, #12]
.endm

@ void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
@                     const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys as ws_aes_expand leaves them (4-byte aligned), r1 rounds, r2 in,
@ r3 out. Out: none. Clobbers r0-r3, r12, flags. Stack: 52 + 16·(rounds - 1) bytes;
@ the round keys in there are overwritten before the return.
@ The rounds are encryption's, with inverted tables; for that the middle round keys must
@ have gone through InvMixColumns (FIPS-197, 5.3.5). InvMixColumns is linear, and
@ most words of the schedule are sums, w[i] = w[i - Nk] + w[i - 1]: from the top down,
@ only one word in four (AES-192: in six) has to be transformed, the others are one
@ exclusive or each. Cycles on Cortex-M3 and M4 without wait states, call included: 939,
@ 1,088 and 1,410 for 10, 12 and 14 rounds.
	.section .text.ws_aes_decrypt, "ax", %progbits
	.balign	4
	.global	ws_aes_decrypt
	.type	ws_aes_decrypt, %function
	.thumb_func
ws_aes_decrypt:
	push.w	{r0, r2-r11, lr}
	lsl.w	r2, r1, #4
	add.w	r0, r0, r2
	mov	r3, sp
	sub.w	r2, r2, #16
	sub.w	sp, sp, r2
	mov.w	r11, #0x01010101
	mov.w	r12, #0x1b
	mov.w	lr, #0x36
	@ The top round key's Nk words have no sums yet: AES-256 comes here twice.
.Lseed:
	ldr.w	r7, [r0, #-4]
	ldr.w	r6, [r0, #-8]
	ldr.w	r5, [r0, #-12]
	ldr.w	r4, [r0, #-16]!
	inverse_mix_columns r7, r8, r9, r10
	inverse_mix_columns r6, r8, r9, r10
	inverse_mix_columns r5, r8, r9, r10
	inverse_mix_columns r4, r8, r9, r10
	store_down r4, r5, r6, r7
	cmp	r1, #12
	beq	.Lmiddle_keys_192
	bhi	.Lmiddle_keys_256

	mov	r2, #4
	.balign	4
2:	.rept	2
	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	eor.w	r5, r5, r4
	ldr.w	r4, [r0, #-16]!
	inverse_mix_columns r4, r8, r9, r10
	store_down r4, r5, r6, r7
	.endr
	subs.w	r2, r2, #1
	bne.w	2b

.Lrounds:
	@ r0 = w + 4, r1 = rounds, sp = the middle round keys, `in` and `out` beyond them. The
	@ first round overwrites the saved `in`.
	lsl.w	r3, r1, #4
	add.w	r2, sp, r3
	add.w	r3, r3, r0
	sub.w	r0, r2, #16
	ldr.w	lr, [r2, #-12]
	ldr.w	r4, [r3, #-16]
	ldr.w	r5, [r3, #-12]
	ldr.w	r6, [r3, #-8]
	ldr.w	r7, [r3, #-4]
	ldr.w	r8, [lr]
	ldr.w	r9, [lr, #4]
	ldr.w	r10, [lr, #8]
	ldr.w	r11, [lr, #12]
	movw	r12, #:lower16:secret_table_aes_td
	movt	r12, #:upper16:secret_table_aes_td
	lsr.w	r1, r1, #1
	eor.w	r8, r8, r4
	eor.w	r9, r9, r5
	eor.w	r10, r10, r6
	eor.w	r11, r11, r7
	bytes_of r8, r2, r3, lr
	str.w	r0, [sp, #-4]!
	b.w	4f
3:	aes_round 1, 2, -32, "sub.w r0, r0, #32", "keys_wiping -32, r8, r9, r10, r11", r4, r7, r6, r5, r8, r11, r10, r9, r2, r3, lr
4:	aes_round 1, 2, -16,, "keys_wiping -16, r4, r5, r6, r7", r8, r11, r10, r9, r4, r7, r6, r5, r2, r3, lr
	subs.w	r1, r1, #1
	bne.w	3b
	ldr.w	r1, [sp]
	movw	r12, #:lower16:secret_table_aes_inverse_sbox
	movt	r12, #:upper16:secret_table_aes_inverse_sbox
	aes_round 0, 0, none,, "last_keys_down r8, r9, r10, r11", r4, r7, r6, r5, r8, r11, r10, r9, r2, r3, lr
	str.w	r8, [r0]
	str.w	r9, [r0, #4]
	str.w	r10, [r0, #8]
	str.w	r11, [r0, #12]
	add.w	r1, r1, #12
	mov	sp, r1
	pop.w	{r4-r11, pc}

.Lmiddle_keys_192:
	@ Words 44 to 47 are done. 42 and 43 complete the top six, of which 42 starts a
	@ group: from here on six words a turn, 36 to 41 down to 6 to 11, then 4 and 5.
	@ The group's words lie in r1, r2, r4-r7.
	ldr.w	r2, [r0, #-4]
	ldr.w	r1, [r0, #-8]!
	inverse_mix_columns r2, r8, r9, r10
	inverse_mix_columns r1, r8, r9, r10
	str.w	r2, [r3, #-4]
	str.w	r1, [r3, #-8]!
	.balign	4
1:	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	eor.w	r5, r5, r4
	eor.w	r4, r4, r2
	eor.w	r2, r2, r1
	ldr.w	r1, [r0, #-24]!
	inverse_mix_columns r1, r8, r9, r10
	store_down r4, r5, r6, r7
	add	r8, sp, #8
	str.w	r2, [r3, #-4]
	str.w	r1, [r3, #-8]!
	cmp	r3, r8
	bne.w	1b
	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	str.w	r7, [r3, #-4]
	str.w	r6, [r3, #-8]
	sub.w	r0, r0, #8
	mov	r1, #12
	b.w	.Lrounds

.Lmiddle_keys_256:
	@ The top eight words have no sums: one more pass, which r2 = 0 marks. Then each turn
	@ makes words i to i + 3 of words i + 8 to i + 11 and w[i], i = 44 down to 4.
	cbz	r2, 1f
	movs	r2, #0
	b.w	.Lseed
1:	movs	r2, #11
	.balign	4
2:	ldr.w	r7, [r3, #28]
	ldr.w	r6, [r3, #24]
	ldr.w	r5, [r3, #20]
	ldr.w	r8, [r3, #16]
	ldr.w	r4, [r0, #-16]!
	eor.w	r7, r7, r6
	eor.w	r6, r6, r5
	eor.w	r5, r5, r8
	inverse_mix_columns r4, r8, r9, r10
	store_down r4, r5, r6, r7
	subs.w	r2, r2, #1
	bne.w	2b
	b.w	.Lrounds
	.size	ws_aes_decrypt, . - ws_aes_decrypt

#include "aes_prepared.inc"

@ ------------------------------------------------------------------ key expansion

@ w ^= SubWord(RotWord(last)) (`rotate` 1) or SubWord(last) (0), FIPS-197, 5.2.
@ r12 = secret_table_aes_te + 1; r1, r2, r3, lr: scratch. `before` is carried out before the loads:
@ after a store the first of them takes one cycle instead of two. 12 cycles besides.
.macro	sub_word rotate, w, last, before:vararg
	uxtb.w	r1, \last
	uxtb.w	r2, \last, ror #8
	uxtb.w	r3, \last, ror #16
	lsr.w	lr, \last, #24
	\before
	ldrb.w	r1, [r12, r1, lsl #2]
	ldrb.w	r2, [r12, r2, lsl #2]
	ldrb.w	r3, [r12, r3, lsl #2]
	ldrb.w	lr, [r12, lr, lsl #2]
	.if	\rotate
	eor.w	\w, \w, r1, lsl #24
	eor.w	\w, \w, r2
	eor.w	\w, \w, r3, lsl #8
	eor.w	\w, \w, lr, lsl #16
	.else
	eor.w	\w, \w, r1
	eor.w	\w, \w, r2, lsl #8
	eor.w	\w, \w, r3, lsl #16
	eor.w	\w, \w, lr, lsl #24
	.endif
.endm

@ Four words to r0 + at.
.macro	store_words at
	str.w	r4, [r0, #\at]
	str.w	r5, [r0, #\at + 4]
	str.w	r6, [r0, #\at + 8]
	str.w	r7, [r0, #\at + 12]
.endm

@ void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
@ In: r0 round keys (4-byte aligned), r1 key (any alignment), r2 words of the key: 4, 6
@ or 8. Out: none. Clobbers r0-r3, r12, flags. Stack: 20 bytes (AES-128) or 40, no secret among them
@ but the caller's own registers.
@ AES-128 is unrolled with the round constants in it; the longer keys, with at most
@ eight constants, none of them reduced, loop with the constant in r11 or on the stack,
@ where it also counts. Cycles on Cortex-M3 and M4 without wait states, call included: 230, 294 and 398.
	.section .text.ws_aes_expand, "ax", %progbits
	.balign	4
	.global	ws_aes_expand
	.type	ws_aes_expand, %function
	.thumb_func
ws_aes_expand:
	cmp	r2, #6
	bhs	1f
	push	{r4-r7, lr}
	movw	r12, #:lower16:secret_table_aes_te + 1
	movt	r12, #:upper16:secret_table_aes_te + 1
	ldr.w	r4, [r1]
	ldr.w	r5, [r1, #4]
	ldr.w	r6, [r1, #8]
	ldr.w	r7, [r1, #12]
	.set	at, 0
	.irp	rcon, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
	sub_word 1, r4, r7, store_words at
	eor.w	r4, r4, #\rcon
	eors	r5, r4
	eors	r6, r5
	eors	r7, r6
	.set	at, at + 16
	.endr
	store_words at
	pop	{r4-r7, pc}

1:	push.w	{r3-r11, lr}
	movw	r12, #:lower16:secret_table_aes_te + 1
	movt	r12, #:upper16:secret_table_aes_te + 1
	ldr.w	r4, [r1]
	ldr.w	r5, [r1, #4]
	ldr.w	r6, [r1, #8]
	ldr.w	r7, [r1, #12]
	ldr.w	r8, [r1, #16]
	ldr.w	r9, [r1, #20]
	bne	4f

	mov.w	r11, #1
	.balign	4
2:	stmia.w	r0!, {r4-r9}
	sub_word 1, r4, r9
	eor.w	r4, r4, r11
	eor.w	r5, r5, r4
	eor.w	r6, r6, r5
	eor.w	r7, r7, r6
	lsls.w	r11, r11, #1
	cmp.w	r11, #0x100
	ittt	ne
	eorne.w	r8, r8, r7
	eorne.w	r9, r9, r8
	bne.w	2b
3:	stmia.w	r0!, {r4-r7}
	pop.w	{r3-r11, pc}

4:	ldr.w	r10, [r1, #24]
	ldr.w	r11, [r1, #28]
	mov.w	r1, #1
	.balign	4
5:	str.w	r1, [sp]
	stmia.w	r0!, {r4-r11}
	sub_word 1, r4, r11
	ldr.w	r1, [sp]
	eor.w	r4, r4, r1
	eor.w	r5, r5, r4
	eor.w	r6, r6, r5
	eor.w	r7, r7, r6
	cmp	r1, #0x40
	beq	3b
	sub_word 0, r8, r7
	eor.w	r9, r9, r8
	eor.w	r10, r10, r9
	eor.w	r11, r11, r10
	ldr.w	r1, [sp]
	lsl.w	r1, r1, #1
	b.w	5b
	.size	ws_aes_expand, . - ws_aes_expand

#endif
