@ AES for ARMv6-M (Cortex-M0): aes.h's functions.
@
@ One table of 256 words a direction. Its entry is SubBytes followed by one
@ column of MixColumns (FIPS-197, 5.1.3); the other three columns are rotations
@ of it, made by Horner's rule: three rotations by 8 a column of the state.
@ Encryption, and decryption by prepared keys, have AES-128's ten rounds in line.
@
@ Constant time: no branch and no instruction's duration depends on a secret.
@ Table addresses do. The tables are therefore in .data, which start-up copies to
@ RAM without cache or accelerator. Branches depend on the key's size and on whether
@ `in` and `out` are 4-byte aligned, which costs nothing then; else bytes are moved.

	.syntax unified
	.thumb

@ ------------------------------------------------------------------ tables

@ A word table's address is 8 modulo 32, so that the register that holds it is also the amount
@ of a rotation by 8.

@ One word: s, s, 03·s, 02·s from the low byte up, which is the column of byte 3. Byte 0 alone is
@ the S-box.
.macro	te_words s:vararg
	.irp	v, \s
	.word	(((\v << 1) ^ ((\v >> 7) * 0x11b)) * 0x01010000) ^ (\v * 0x00010101)
	.endr
.endm

	.section .data.ws_aes_te, "aw", %progbits
	.balign	32
	.space	8
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

@ One word: 09·s, 0d·s, 0b·s, 0e·s from the low byte up, which is the column of byte 3. Each is a
@ sum of the products by 8, 4, 2 and 1, which stay unreduced until the end.
.macro	td_words s:vararg
	.irp	v, \s
	td_word	(\v << 3), (\v << 2), (\v << 1), \v
	.endr
.endm
.macro	td_word x8, x4, x2, x1
	gf_byte	(\x8 ^ \x1)
	gf_byte	(\x8 ^ \x4 ^ \x1)
	gf_byte	(\x8 ^ \x2 ^ \x1)
	gf_byte	(\x8 ^ \x4 ^ \x2)
.endm
@ A byte: a polynomial of degree 10 or less, modulo x^8 + x^4 + x^3 + x + 1.
.macro	gf_byte p
	.byte	0xff & ((\p) ^ (((\p) >> 8 & 1) * 0x1b) ^ (((\p) >> 9 & 1) * 0x36) ^ (((\p) >> 10 & 1) * 0x6c))
.endm

	.section .data.ws_aes_td, "aw", %progbits
	.balign	32
	.space	8
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

@ ------------------------------------------------------------------ entry, exit, bytes

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

@ w = the four bytes at p + at, of any alignment; t: scratch.
.macro	load_bytes w, p, at, t
	ldrb	\w, [\p, #\at + 3]
	.irp	n, 2, 1, 0
	lsls	\w, \w, #8
	ldrb	\t, [\p, #\at + \n]
	orrs	\w, \t
	.endr
.endm
.macro	store_bytes w, p, at
	.irp	n, 0, 1, 2, 3
	strb	\w, [\p, #\at + \n]
	lsrs	\w, \w, #8
	.endr
.endm

@ r4-r7 = the block at `p`; r1: scratch.
.macro	load_block p
	lsls	r1, \p, #30
	bne	8f
	ldmia	\p!, {r4-r7}
	b	9f
8:	load_bytes r4, \p, 0, r1
	load_bytes r5, \p, 4, r1
	load_bytes r6, \p, 8, r1
	load_bytes r7, \p, 12, r1
9:
.endm
@ The block at r3 = r4-r7; r1: scratch.
.macro	store_block
	lsls	r1, r3, #30
	bne	8f
	stmia	r3!, {r4-r7}
	b	9f
8:	store_bytes r4, r3, 0
	store_bytes r5, r3, 4
	store_bytes r6, r3, 8
	store_bytes r7, r3, 12
9:
.endm

@ ------------------------------------------------------------------ one round

@ r2 = the new column of byte 0 of s0, byte 1 of s1, byte 2 of s2 and byte 3 of s3, by
@ the words of the table at r0. r1 = 0x3fc, r3: scratch. 22 cycles.
.macro	column s0, s1, s2, s3
	lsls	r2, \s0, #2
	ands	r2, r1
	ldr	r2, [r0, r2]
	rors	r2, r0
	lsrs	r3, \s1, #6
	ands	r3, r1
	ldr	r3, [r0, r3]
	eors	r2, r3
	rors	r2, r0
	lsrs	r3, \s2, #14
	ands	r3, r1
	ldr	r3, [r0, r3]
	eors	r2, r3
	rors	r2, r0
	lsrs	r3, \s3, #22
	ands	r3, r1
	ldr	r3, [r0, r3]
	eors	r2, r3
.endm

@ The same of the last round, by byte 0 of the words.
.macro	last_column_encrypting s0, s1, s2, s3
	lsrs	r2, \s3, #22
	ands	r2, r1
	ldrb	r2, [r0, r2]
	lsls	r2, r2, #8
	lsrs	r3, \s2, #14
	ands	r3, r1
	ldrb	r3, [r0, r3]
	orrs	r2, r3
	lsls	r2, r2, #8
	lsrs	r3, \s1, #6
	ands	r3, r1
	ldrb	r3, [r0, r3]
	orrs	r2, r3
	lsls	r2, r2, #8
	lsls	r3, \s0, #2
	ands	r3, r1
	ldrb	r3, [r0, r3]
	orrs	r2, r3
.endm

@ The same by the bytes of the table at r0.
.macro	last_column_decrypting s0, s1, s2, s3
	lsrs	r2, \s3, #24
	ldrb	r2, [r0, r2]
	lsls	r2, r2, #8
	lsrs	r3, \s2, #16
	uxtb	r3, r3
	ldrb	r3, [r0, r3]
	orrs	r2, r3
	lsls	r2, r2, #8
	lsrs	r3, \s1, #8
	uxtb	r3, r3
	ldrb	r3, [r0, r3]
	orrs	r2, r3
	lsls	r2, r2, #8
	uxtb	r3, \s0
	ldrb	r3, [r0, r3]
	orrs	r2, r3
.endm

@ r4-r7 = a whole round of r4-r7 but for the round key, the last column left in r2, the
@ others in a, b and c. Decryption's ShiftRows runs the other way.
.macro	encrypting_round column, a=r10, b=r11, c=r12
	\column	r4, r5, r6, r7
	mov	\a, r2
	\column	r5, r6, r7, r4
	mov	\b, r2
	\column	r6, r7, r4, r5
	mov	\c, r2
	\column	r7, r4, r5, r6
.endm
.macro	decrypting_round column, a=r10, b=r11, c=r12
	\column	r4, r7, r6, r5
	mov	\a, r2
	\column	r5, r4, r7, r6
	mov	\b, r2
	\column	r6, r5, r4, r7
	mov	\c, r2
	\column	r7, r6, r5, r4
.endm

@ Adds the round key at r3 and moves r3 by 16.
.macro	add_round_key a=r10, b=r11, c=r12
	ldmia	r3!, {r4-r7}
	eors	r7, r2
	mov	r2, \a
	eors	r4, r2
	mov	r2, \b
	eors	r5, r2
	mov	r2, \c
	eors	r6, r2
.endm

@ ------------------------------------------------------------------ ten rounds in line

@ A function of aes.h's arguments: r0 round keys in the order of their use (4-byte aligned), r1
@ rounds, r2 in, r3 out. r10, r12 and lr hold columns, r8 the next round key; out waits on the
@ stack. Bytes are read out of line where the block's address is not aligned. Longer keys than
@ AES-128's have the rounds that are more before the ten, one by one. The table's address lies
@ before the entry: a load reaches 1 kB ahead.
.macro	unrolled name, direction, table, last_column, last_table
	.section .text.\name, "ax", %progbits
	.balign	4
.L\name\()_longer:
	mov	r4, r9
	push	{r4}
	subs	r1, #9
	lsls	r1, r1, #4
	adds	r1, r1, r0
	mov	r9, r1
	first_key .L\name\()_longer_bytes, .L\name\()_longer_read
	ldr	r0, =\table
1:	round_and_key \direction
	cmp	r3, r9
	bne	1b
	pop	{r2}
	mov	r9, r2
	b	.L\name\()_ten
.L\name\()_longer_bytes:
	block_bytes r2, .L\name\()_longer_read
.L\name\()_bytes:
	block_bytes r2, .L\name\()_read
	.balign	4
	.ltorg
.L\name\()_table:
	.word	\table
0:	b	.L\name\()_longer
	.balign	4
	.global	\name
	.type	\name, %function
	.thumb_func
\name:
	push	{r3-r7, lr}
	mov	r4, r8
	mov	r5, r10
	push	{r4, r5}
	cmp	r1, #10
	bne	0b
	first_key .L\name\()_bytes, .L\name\()_read
	mov	r0, pc
0:	subs	r0, #(0b + 2 - .L\name\()_table)
	ldr	r0, [r0]
.L\name\()_ten:
	.rept	9
	round_and_key \direction
	.endr
	.ifnb	\last_table
	ldr	r0, =\last_table
	.endif
	\direction \last_column, r10, lr, r12
	mov	r3, r8
	add_round_key r10, lr, r12
	ldr	r3, [sp, #8]
	lsls	r1, r3, #30
	bne	8f
	stmia	r3!, {r4-r7}
7:	pop	{r4, r5}
	mov	r8, r4
	mov	r10, r5
	pop	{r3-r7, pc}
8:	store_bytes r4, r3, 0
	store_bytes r5, r3, 4
	store_bytes r6, r3, 8
	store_bytes r7, r3, 12
	b	7b
	.balign	4
	.ltorg
	.size	\name, . - \name
.endm

@ r4-r7 = the block at r2, aligned or read at `bytes`, with the round key at r0 added; r8 = the next
@ round key, r1 = 0x3fc. r0, r2, r3: scratch. `read` is where `bytes` comes back to.
.macro	first_key bytes, read
	lsls	r1, r2, #30
	bne	\bytes
	ldmia	r2!, {r4-r7}
\read:
	ldmia	r0!, {r1-r3}
	eors	r4, r1
	eors	r5, r2
	eors	r6, r3
	ldmia	r0!, {r1}
	eors	r7, r1
	mov	r8, r0
	movs	r1, #0xff
	lsls	r1, r1, #2
.endm
.macro	block_bytes p, back
	load_bytes r4, \p, 0, r1
	load_bytes r5, \p, 4, r1
	load_bytes r6, \p, 8, r1
	load_bytes r7, \p, 12, r1
	b	\back
.endm

@ A whole round with its key.
.macro	round_and_key direction
	\direction column, r10, lr, r12
	mov	r3, r8
	add_round_key r10, lr, r12
	mov	r8, r3
.endm

@ ------------------------------------------------------------------ encryption

@ void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
@                     const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys (4-byte aligned), r1 rounds, r2 in, r3 out. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 32 bytes, 36 of longer keys, no secret among them but the
@ caller's own registers. Cycles without wait states, call included, in and out aligned: 1,115,
@ 1,347 and 1,565 for 10, 12 and 14 rounds.
	unrolled ws_aes_encrypt, encrypting_round, secret_table_aes_te, last_column_encrypting

@ ------------------------------------------------------------------ decryption

@ t = 02·t in each byte; r6 = 0x1b, r7 = 0x01010101; u, v: scratch. 7 cycles.
.macro	double_bytes t, u, v
	lsrs	\u, \t, #7
	ands	\u, r7
	lsls	\v, \u, #7
	eors	\t, \v
	lsls	\t, \t, #1
	muls	\u, r6
	eors	\t, \u
.endm

@ r0 = InvMixColumns(r0), which is MixColumns of w + 04·(w + w rotated by 16).
@ r6 = 0x1b, r7 = 0x01010101; r1-r3: scratch. 35 cycles.
.macro	inverse_mix_columns
	mov	r1, r0
	movs	r3, #16
	rors	r1, r3
	eors	r1, r0
	double_bytes r1, r2, r3
	double_bytes r1, r2, r3
	eors	r0, r1
	mov	r1, r0
	movs	r3, #8
	rors	r1, r3
	eors	r0, r1
	mov	r2, r0
	movs	r3, #16
	rors	r2, r3
	eors	r1, r2
	double_bytes r0, r2, r3
	eors	r0, r1
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
@ exclusive or each. Cycles without wait states, call included, in and out aligned:
@ 2,011, 2,328 and 2,874 for 10, 12 and 14 rounds.
	.section .text.ws_aes_decrypt, "ax", %progbits
	.balign	4
	.global	ws_aes_decrypt
	.type	ws_aes_decrypt, %function
	.thumb_func
ws_aes_decrypt:
	save_registers
	push	{r0, r2, r3}
	lsls	r1, r1, #4
	adds	r4, r0, r1
	mov	r5, sp
	movs	r3, #16
	adds	r3, r3, r5
	subs	r3, r3, r1
	mov	sp, r3
	mov	r10, r3
	@ r8 = 4·Nk; the top Nk words have no sums.
	lsrs	r0, r1, #2
	subs	r0, #24
	mov	r8, r0
	subs	r0, r5, r0
	mov	r9, r0
	movs	r6, #0x1b
	ldr	r7, =0x01010101
1:	subs	r4, #4
	subs	r5, #4
	ldr	r0, [r4]
	inverse_mix_columns
	str	r0, [r5]
	cmp	r5, r9
	bne	1b

2:	mov	r3, r8
	cmp	r3, #24
	bne	3f
	@ AES-192: two more sums a group.
	adds	r3, r3, r5
	subs	r3, #12
	ldr	r0, [r3, #8]
	ldr	r1, [r3, #4]
	ldr	r2, [r3]
	eors	r0, r1
	eors	r1, r2
	subs	r4, #8
	subs	r5, #8
	str	r0, [r5, #4]
	str	r1, [r5]
	cmp	r5, r10
	beq	4f
	mov	r3, r8
3:	adds	r3, r3, r5
	subs	r3, #16
	ldr	r0, [r3, #12]
	ldr	r1, [r3, #8]
	ldr	r2, [r3, #4]
	ldr	r3, [r3]
	eors	r0, r1
	eors	r1, r2
	eors	r2, r3
	subs	r4, #16
	subs	r5, #16
	str	r0, [r5, #12]
	str	r1, [r5, #8]
	str	r2, [r5, #4]
	ldr	r0, [r4]
	inverse_mix_columns
	str	r0, [r5]
	cmp	r5, r10
	bne	2b

	@ r4 = w + 4; the saved arguments are beyond the middle round keys.
4:	mov	r0, r8
	adds	r0, #24
	lsls	r0, r0, #2
	adds	r3, r4, r0
	subs	r3, #16
	add	r0, sp
	subs	r0, #16
	ldr	r2, [r0, #4]
	mov	lr, r0
	subs	r0, #16
	mov	r8, r0
	load_block r2
	ldmia	r3!, {r0-r2}
	eors	r4, r0
	eors	r5, r1
	eors	r6, r2
	ldmia	r3!, {r0}
	eors	r7, r0
	mov	r0, sp
	subs	r0, #16
	mov	r9, r0
	ldr	r0, =secret_table_aes_td
	movs	r1, #0xff
	lsls	r1, r1, #2
5:	decrypting_round column
	mov	r3, r8
	add_round_key
	subs	r3, #32
	mov	r8, r3
	cmp	r3, r9
	bne	5b
	ldr	r0, =secret_table_aes_inverse_sbox
	decrypting_round last_column_decrypting
	mov	r3, lr
	ldr	r3, [r3]
	add_round_key
	mov	r3, lr
	ldr	r3, [r3, #8]
	store_block
	mov	r1, sp
	movs	r4, #0
	movs	r5, #0
	movs	r6, #0
	movs	r7, #0
6:	stmia	r1!, {r4-r7}
	cmp	r1, lr
	bne	6b
	adds	r1, #12
	mov	sp, r1
	restore_registers_and_return
	.balign	4
	.ltorg
	.size	ws_aes_decrypt, . - ws_aes_decrypt

@ ------------------------------------------------------------------ decryption, keys prepared

@ void ws_aes_prepare_decryption(uint8_t *round_keys, unsigned rounds)
@ In: r0 round keys as ws_aes_expand leaves them (4-byte aligned), r1 rounds. Out: none. Clobbers
@ r0-r3, r12, flags. Stack: 28 bytes, no secret among them but the caller's own registers.
@ The middle round keys go through InvMixColumns as in ws_aes_decrypt, in place: from the top down a
@ sum's terms are there before it. Then the first round key changes places with the last, and so on.
@ Cycles without wait states, call included: 892, 982 and 1,329 for 10, 12 and 14 rounds.
	.section .text.ws_aes_prepare_decryption, "ax", %progbits
	.balign	4
	.global	ws_aes_prepare_decryption
	.type	ws_aes_prepare_decryption, %function
	.thumb_func
ws_aes_prepare_decryption:
	push	{r0, r1, r4-r7, lr}
	lsls	r1, r1, #4
	adds	r5, r0, r1
	adds	r0, #16
	mov	lr, r0
	@ r4 = 4·Nk; the top Nk words have no sums.
	lsrs	r4, r1, #2
	subs	r4, #24
	subs	r0, r5, r4
	mov	r12, r0
	movs	r6, #0x1b
	ldr	r7, =0x01010101
1:	subs	r5, #4
	ldr	r0, [r5]
	inverse_mix_columns
	str	r0, [r5]
	cmp	r5, r12
	bne	1b
2:	cmp	r4, #24
	bne	3f
	@ AES-192: two more sums a group.
	movs	r3, r5
	adds	r3, #12
	ldmia	r3!, {r0-r2}
	eors	r0, r1
	eors	r1, r2
	subs	r5, #8
	str	r0, [r5]
	str	r1, [r5, #4]
	cmp	r5, lr
	beq	4f
3:	adds	r3, r5, r4
	subs	r3, #16
	ldmia	r3!, {r0-r2}
	eors	r0, r1
	eors	r1, r2
	ldr	r3, [r3]
	eors	r2, r3
	subs	r5, #16
	str	r0, [r5, #4]
	str	r1, [r5, #8]
	str	r2, [r5, #12]
	ldr	r0, [r5]
	inverse_mix_columns
	str	r0, [r5]
	cmp	r5, lr
	bne	2b

4:	pop	{r0, r1}
	lsls	r1, r1, #4
	adds	r1, r1, r0
5:	ldmia	r0!, {r4-r7}
	subs	r0, #16
	ldr	r2, [r1]
	ldr	r3, [r1, #4]
	stmia	r0!, {r2, r3}
	str	r4, [r1]
	str	r5, [r1, #4]
	ldr	r2, [r1, #8]
	ldr	r3, [r1, #12]
	stmia	r0!, {r2, r3}
	str	r6, [r1, #8]
	str	r7, [r1, #12]
	subs	r1, #16
	cmp	r0, r1
	blo	5b
	pop	{r4-r7, pc}
	.balign	4
	.ltorg
	.size	ws_aes_prepare_decryption, . - ws_aes_prepare_decryption

@ void ws_aes_decrypt_prepared(const uint8_t *round_keys, unsigned rounds,
@                              const uint8_t in[16], uint8_t out[16])
@ In: r0 round keys as ws_aes_prepare_decryption leaves them (4-byte aligned), r1 rounds, r2 in, r3
@ out. Out: none. Clobbers r0-r3, r12, flags. Stack and idea as of ws_aes_encrypt. Cycles without
@ wait states, call included, in and out aligned: 1,109, 1,341 and 1,559 for 10, 12 and 14 rounds.
	unrolled ws_aes_decrypt_prepared, decrypting_round, secret_table_aes_td, last_column_decrypting, \
		secret_table_aes_inverse_sbox

@ ------------------------------------------------------------------ key expansion

@ r1 = the bytes 0 to 3 of `last`, through the S-box, from the lowest to the highest of a
@ word; rotated by RotWord with `rotate` 1 (FIPS-197, 5.2). r2 = secret_table_aes_te,
@ r3 = 0x3fc; t: scratch.
.macro	sub_word rotate, last, t
	.if	\rotate
	substitute r1, \last, lsls, 2
	substitute \t, \last, lsrs, 22
	.else
	substitute r1, \last, lsrs, 22
	substitute \t, \last, lsrs, 14
	.endif
	lsls	r1, r1, #8
	orrs	r1, \t
	lsls	r1, r1, #8
	.if	\rotate
	substitute \t, \last, lsrs, 14
	.else
	substitute \t, \last, lsrs, 6
	.endif
	orrs	r1, \t
	lsls	r1, r1, #8
	.if	\rotate
	substitute \t, \last, lsrs, 6
	.else
	substitute \t, \last, lsls, 2
	.endif
	orrs	r1, \t
.endm
.macro	substitute x, last, shift, by
	\shift	\x, \last, #\by
	ands	\x, r3
	ldrb	\x, [r2, \x]
.endm

@ Stores the next word, which is the one Nk back plus x.
.macro	next_word x=r7
	ldmia	r6!, {r4}
	.ifc	\x, r7
	eors	r7, r4
	.else
	eors	r4, \x
	mov	r7, r4
	.endif
	stmia	r0!, {r7}
.endm

@ r1 gets the round constant added, which doubles: of AES-192 and AES-256 none is reduced.
.macro	next_round_constant
	mov	r4, r11
	eors	r1, r4
	lsls	r4, r4, #1
	mov	r11, r4
.endm

@ w ^= the byte of r7 that `shift` by `by` moves to 0x3fc, through the S-box, `to` bits up. r1:
@ scratch.
.macro	add_substituted w, shift, by, to
	substitute r1, r7, \shift, \by
	.if	\to
	lsls	r1, r1, #\to
	.endif
	eors	\w, r1
.endm

@ void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
@ In: r0 round keys (4-byte aligned), r1 key (any alignment), r2 words of the key: 4, 6
@ or 8. Out: none. Clobbers r0-r3, r12, flags. Stack: 20 bytes (AES-128) or 36, no secret
@ among them but the caller's own registers.
@ AES-128 is unrolled with the round constants in it. Of the longer keys the word before is at
@ hand, the one Nk words before is read back.
@ Cycles without wait states, call included, key aligned: 371, 608 and 764.
	.section .text.ws_aes_expand, "ax", %progbits
	.balign	4
1:	b	.Lexpand_longer
	.balign	4
	.global	ws_aes_expand
	.type	ws_aes_expand, %function
	.thumb_func
ws_aes_expand:
	cmp	r2, #4
	bne	1b
	push	{r4-r7, lr}
	mov	r2, r1
	load_block r2
	ldr	r2, =secret_table_aes_te
	movs	r3, #0xff
	lsls	r3, r3, #2
	.irp	rcon, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
	stmia	r0!, {r4-r7}
	add_substituted r4, lsrs, 6, 0
	add_substituted r4, lsrs, 14, 8
	add_substituted r4, lsrs, 22, 16
	add_substituted r4, lsls, 2, 24
	movs	r1, #\rcon
	eors	r4, r1
	eors	r5, r4
	eors	r6, r5
	eors	r7, r6
	.endr
	stmia	r0!, {r4-r7}
	pop	{r4-r7, pc}
	.balign	4
	.ltorg

.Lexpand_longer:
	save_registers
	mov	r9, r0
	lsls	r3, r2, #2
	@ The end: 16·(Nk + 7) bytes of round keys.
	adds	r4, r3, #7
	adds	r4, #21
	lsls	r4, r4, #2
	adds	r4, r4, r0
	mov	r10, r4
	@ Copies the key; r3 = 4·Nk.
	movs	r4, #0
	lsls	r5, r1, #30
	bne	1f
0:	ldr	r5, [r1, r4]
	str	r5, [r0, r4]
	adds	r4, #4
	cmp	r4, r3
	bne	0b
	b	2f
1:	load_bytes r5, r1, 0, r6
	str	r5, [r0, r4]
	adds	r1, #4
	adds	r4, #4
	cmp	r4, r3
	bne	1b
2:
	mov	r8, r3
	movs	r4, #1
	mov	r11, r4
	ldr	r2, =secret_table_aes_te
	movs	r3, #0xff
	lsls	r3, r3, #2
	mov	r1, r8
	cmp	r1, #24
	bhi	.Lexpand_256

	@ r6 points at the word Nk back, r7 is the last one.
	mov	r6, r9
	adds	r0, #24
	ldr	r7, [r6, #20]
4:	sub_word 1, r7, r4
	next_round_constant
	next_word r1
	next_word
	next_word
	next_word
	cmp	r0, r10
	beq	.Lexpanded
	next_word
	next_word
	b	4b

.Lexpand_256:
	mov	r6, r9
	adds	r0, #32
	ldr	r7, [r6, #28]
5:	sub_word 1, r7, r4
	next_round_constant
	next_word r1
	next_word
	next_word
	next_word
	cmp	r0, r10
	beq	.Lexpanded
	sub_word 0, r7, r4
	next_word r1
	next_word
	next_word
	next_word
	b	5b
.Lexpanded:
	restore_registers_and_return
	.balign	4
	.ltorg
	.size	ws_aes_expand, . - ws_aes_expand
