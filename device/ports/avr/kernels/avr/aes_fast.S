/*
 * AES-128/192/256 for AVR (FIPS-197), the fast variant.
 *
 * Cycles from the call instruction to the return inclusive, stack with the
 * return address, flash of the code; S-box 256 bytes, inverse S-box 256, times2
 * 256, times4 256, each linked where used:
 *
 *                       128    192    256   stack   code   tables
 *     ws_aes_encrypt   2078   2478   2878      16    546      512
 *     ws_aes_decrypt   2739   3285   3831      16    668      768
 *     ws_aes_expand     817   1475   1778       9    336      256
 *
 * Constant flow: the instructions and the addresses in RAM depend on the key
 * size alone. Secret bytes index tables in flash, which AVR reads in the same
 * three cycles at every address.
 *
 * Tables are aligned pages of 256 bytes, so that a byte in ZL is an index. They
 * lie in .progmem.data, which avr-ld places behind the vectors and before the
 * code, hence below 64 kB, where LPM reaches them on the ATmega128 too.
 *
 * The stack pointer moves by push, pop, call and return only, and r1 is cleared
 * before returning, so interrupts may stay enabled.
 *
 * The idea. MixColumns of a column a0..a3 needs three doublings, not four: with
 *     y1 = a1 ^ 2(a1 ^ a2),  y2 = a2 ^ 2(a2 ^ a3),  y3 = a3 ^ 2(a3 ^ a0),
 *     t  = a0 ^ a1 ^ a2 ^ a3
 * the mixed column is
 *     b1 = y1 ^ t,  b2 = y2 ^ t,  b3 = y3 ^ t,  b0 = y1 ^ y2 ^ y3,
 * because every column of the MixColumns matrix sums to 1. The state between
 * rounds is kept as t, y1, y2, y3, and the exclusive-ors that finish a byte,
 * with that of the round key, happen in ZL on the way to the S-box. Doubling is
 * a table: LPM at a computed index costs no more than a branch-free shift and
 * leaves its operand whole.
 */

#define ZL r30
#define ZH r31

/* Row 0 of column c between rounds is R0c and holds t; row r holds yr in Rrc. */
#define R00 r8
#define R01 r9
#define R02 r10
#define R03 r11
#define R10 r12
#define R11 r13
#define R12 r14
#define R13 r18
#define R20 r15
#define R21 r16
#define R22 r26
#define R23 r27
#define R30 r17
#define R31 r20
#define R32 r21
#define R33 r23
/*
 * Spare registers. SubBytes writes a byte to a register that is free by then and
 * MixColumns brings it home, so that shifting the rows costs no move.
 */
#define SA r0
#define SB r1
#define SC r24
#define SD r25
#define SE r19

#define ROUND r22

/* XL:XH and TMP are R22, R23 and R13, free before and after the rounds. */
#define TMP R13

	.section .progmem.data.ws_secret_table_aes_sbox, "a", @progbits
	.balign 256
	.type ws_secret_table_aes_sbox, @object
ws_secret_table_aes_sbox:
	.byte 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
	.byte 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
	.byte 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
	.byte 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
	.byte 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
	.byte 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
	.byte 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
	.byte 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
	.byte 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
	.byte 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
	.byte 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
	.byte 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
	.byte 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
	.byte 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
	.byte 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
	.byte 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
	.size ws_secret_table_aes_sbox, . - ws_secret_table_aes_sbox

	.section .progmem.data.ws_secret_table_aes_inverse_sbox, "a", @progbits
	.balign 256
	.type ws_secret_table_aes_inverse_sbox, @object
ws_secret_table_aes_inverse_sbox:
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
	.size ws_secret_table_aes_inverse_sbox, . - ws_secret_table_aes_inverse_sbox

/* 2x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
	.section .progmem.data.ws_secret_table_aes_times2, "a", @progbits
	.balign 256
	.type ws_secret_table_aes_times2, @object
ws_secret_table_aes_times2:
	.set index, 0
	.rept 256
	.byte (index << 1) ^ ((index >> 7) * 0x11b)
	.set index, index + 1
	.endr
	.size ws_secret_table_aes_times2, . - ws_secret_table_aes_times2

/* 4x in GF(2^8). */
	.section .progmem.data.ws_secret_table_aes_times4, "a", @progbits
	.balign 256
	.type ws_secret_table_aes_times4, @object
ws_secret_table_aes_times4:
	.set index, 0
	.rept 256
	.byte (index << 2) ^ ((index >> 7) * 0x236) ^ (((index >> 6) & 1) * 0x11b)
	.set index, index + 1
	.endr
	.size ws_secret_table_aes_times4, . - ws_secret_table_aes_times4

/*
 * MixColumns of a0..a3: t in place of a0, y1..y3 into d1..d3, each of which is
 * either free or the register of the same row, in which case it goes through
 * s12 (rows 1 and 2) or s3 (row 3), free registers. ZH is the page of
 * ws_secret_table_aes_times2. 19 cycles.
 */
.macro MIX_COLUMN a0, a1, a2, a3, d1, d2, d3, s12=none, s3=none
	eor \a0, \a3
	mov ZL, \a0
.ifc \a3, \d3
	lpm \s3, Z
.else
	lpm \d3, Z
	eor \d3, \a3
.endif
	mov ZL, \a1
	eor ZL, \a2
	eor \a0, ZL
.ifc \a1, \d1
	lpm \s12, Z
	eor \a1, \s12
.else
	lpm \d1, Z
	eor \d1, \a1
.endif
	mov ZL, \a2
	eor ZL, \a3
.ifc \a2, \d2
	lpm \s12, Z
	eor \a2, \s12
.else
	lpm \d2, Z
	eor \d2, \a2
.endif
.ifc \a3, \d3
	eor \a3, \s3
.endif
.endm

/* dest = table[in[..] ^ round key byte]: the way into round 1. 8 cycles. */
.macro FIRST_BYTE offset, dest
	ld ZL, X+
	ldd TMP, Y+\offset
	eor ZL, TMP
	lpm \dest, Z
.endm

.macro FIRST_COLUMN offset, e0, e1, e2, e3
	FIRST_BYTE \offset, \e0
	FIRST_BYTE \offset+1, \e1
	FIRST_BYTE \offset+2, \e2
	FIRST_BYTE \offset+3, \e3
.endm

/* out[..] = a ^ round key byte: the way out. 5 cycles. */
.macro LAST_BYTE offset, a
	ldd TMP, Y+\offset
	eor \a, TMP
	st X+, \a
.endm

.macro LAST_COLUMN offset, a0, a1, a2, a3
	LAST_BYTE \offset, \a0
	LAST_BYTE \offset+1, \a1
	LAST_BYTE \offset+2, \a2
	LAST_BYTE \offset+3, \a3
.endm

/* Registers of the caller; the output pointer (r19:r18) last, for the end. */
.macro ENTER
	push r8
	push r9
	push r10
	push r11
	push r12
	push r13
	push r14
	push r15
	push r16
	push r17
	push r28
	push r29
	push r18
	push r19
	movw r28, r24		; Y = round keys
	movw r26, r20		; X = in
.endm

.macro LEAVE
	pop r29
	pop r28
	pop r17
	pop r16
	pop r15
	pop r14
	pop r13
	pop r12
	pop r11
	pop r10
	pop r9
	pop r8
	clr r1
	ret
.endm

/*
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 *
 * in:  r25:r24 round keys, r22 rounds (10, 12, 14), r21:r20 in, r19:r18 out
 * Clobbers r0, r18-r27, r30, r31. in and out may be the same.
 */

/* AddRoundKey and SubBytes of column t, y1..y3: row 0 in place, rows 1..3 into
 * e1..e3, none of which is y1..y3. ZH is the page of ws_secret_table_aes_sbox. 29 cycles. */
.macro SUB_COLUMN offset, t, y1, y2, y3, e1, e2, e3
	ldd ZL, Y+\offset+1
	eor ZL, \y1
	eor ZL, \t
	lpm \e1, Z
	ldd ZL, Y+\offset+2
	eor ZL, \y2
	eor ZL, \t
	lpm \e2, Z
	ldd ZL, Y+\offset+3
	eor ZL, \y3
	eor ZL, \t
	lpm \e3, Z
	ldd ZL, Y+\offset
	eor ZL, \y1
	eor ZL, \y2
	eor ZL, \y3
	lpm \t, Z
.endm

	.section .text.ws_aes_encrypt, "ax", @progbits
	.global ws_aes_encrypt
	.type ws_aes_encrypt, @function
ws_aes_encrypt:
	ENTER
	dec ROUND
	ldi ZH, hi8(ws_secret_table_aes_sbox)
	FIRST_COLUMN 0, R00, SA, SB, SD
	FIRST_COLUMN 4, R01, R10, SC, SE
	FIRST_COLUMN 8, R02, R11, R20, R31
	FIRST_COLUMN 12, R03, R12, R21, R30
1:	adiw r28, 16
	ldi ZH, hi8(ws_secret_table_aes_times2)
	MIX_COLUMN R03, SA, SC, R31, R13, R23, R33
	MIX_COLUMN R02, R12, SB, SE, R12, R22, R32, s12=SA
	MIX_COLUMN R01, R11, R21, SD, R11, R21, R31, s12=SA
	MIX_COLUMN R00, R10, R20, R30, R10, R20, R30, s12=SA, s3=SB
	ldi ZH, hi8(ws_secret_table_aes_sbox)
	SUB_COLUMN 0, R00, R10, R20, R30, SA, SB, SD
	SUB_COLUMN 4, R01, R11, R21, R31, R10, SC, SE
	SUB_COLUMN 8, R02, R12, R22, R32, R11, R20, R31
	SUB_COLUMN 12, R03, R13, R23, R33, R12, R21, R30
	dec ROUND
	breq 2f
	rjmp 1b
2:	adiw r28, 16
	pop r27
	pop r26
	LAST_COLUMN 0, R00, R10, R20, R30
	LAST_COLUMN 4, R01, R11, R21, SD
	LAST_COLUMN 8, R02, R12, SB, SE
	LAST_COLUMN 12, R03, SA, SC, R31
	LEAVE
	.size ws_aes_encrypt, . - ws_aes_encrypt

/*
 * void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 *
 * in:  r25:r24 round keys, r22 rounds (10, 12, 14), r21:r20 in, r19:r18 out
 * Clobbers r0, r18-r27, r30, r31. in and out may be the same.
 *
 * InvMixColumns is MixColumns of the column with 4(a0 ^ a2) added to a0 and a2
 * and 4(a1 ^ a3) added to a1 and a3 (the AES proposal, section 5.3.3's matrix
 * factored), so the same doublings serve, and the round keys are those of
 * encryption.
 */

/* InvSubBytes of column t, y1..y3: row 0 in place, rows 1..3 into e1..e3, none
 * of which is y1..y3. ZH is the page of ws_secret_table_aes_inverse_sbox. 21 cycles. */
.macro INVERSE_SUB_COLUMN t, y1, y2, y3, e1, e2, e3
	mov ZL, \y1
	eor ZL, \t
	lpm \e1, Z
	mov ZL, \y2
	eor ZL, \t
	lpm \e2, Z
	mov ZL, \y3
	eor ZL, \t
	lpm \e3, Z
	mov ZL, \y1
	eor ZL, \y2
	eor ZL, \y3
	lpm \t, Z
.endm

/* AddRoundKey, then 4(a0 ^ a2) and 4(a1 ^ a3) in place. ZH is the page of
 * ws_secret_table_aes_times4. 26 cycles. */
.macro KEY_COLUMN offset, a0, a1, a2, a3
	ldd TMP, Y+\offset
	eor \a0, TMP
	ldd TMP, Y+\offset+1
	eor \a1, TMP
	ldd TMP, Y+\offset+2
	eor \a2, TMP
	ldd TMP, Y+\offset+3
	eor \a3, TMP
	mov ZL, \a0
	eor ZL, \a2
	lpm TMP, Z
	eor \a0, TMP
	eor \a2, TMP
	mov ZL, \a1
	eor ZL, \a3
	lpm TMP, Z
	eor \a1, TMP
	eor \a3, TMP
.endm

	.section .text.ws_aes_decrypt, "ax", @progbits
	.global ws_aes_decrypt
	.type ws_aes_decrypt, @function
ws_aes_decrypt:
	ENTER
	mov TMP, ROUND		; Y += 16 * rounds: the last round key
	swap TMP
	add r28, TMP
	adc r29, r1
	dec ROUND
	ldi ZH, hi8(ws_secret_table_aes_inverse_sbox)
	FIRST_COLUMN 0, R00, SD, SB, SA
	FIRST_COLUMN 4, R01, SE, SC, R30
	FIRST_COLUMN 8, R02, R11, R20, R31
	FIRST_COLUMN 12, R03, R10, R21, R32
1:	sbiw r28, 16
	ldi ZH, hi8(ws_secret_table_aes_times4)
	KEY_COLUMN 0, R00, R10, R20, R30
	KEY_COLUMN 4, R01, SD, R21, R31
	KEY_COLUMN 8, R02, SE, SB, R32
	KEY_COLUMN 12, R03, R11, SC, SA
	ldi ZH, hi8(ws_secret_table_aes_times2)
	MIX_COLUMN R03, R11, SC, SA, R13, R23, R33
	MIX_COLUMN R02, SE, SB, R32, R12, R22, R32, s3=SA
	MIX_COLUMN R01, SD, R21, R31, R11, R21, R31, s12=SA, s3=SB
	MIX_COLUMN R00, R10, R20, R30, R10, R20, R30, s12=SA, s3=SB
	ldi ZH, hi8(ws_secret_table_aes_inverse_sbox)
	INVERSE_SUB_COLUMN R00, R10, R20, R30, SD, SB, SA
	INVERSE_SUB_COLUMN R01, R11, R21, R31, SE, SC, R30
	INVERSE_SUB_COLUMN R02, R12, R22, R32, R11, R20, R31
	INVERSE_SUB_COLUMN R03, R13, R23, R33, R10, R21, R32
	dec ROUND
	breq 2f
	rjmp 1b
2:	sbiw r28, 16
	pop r27
	pop r26
	LAST_COLUMN 0, R00, R10, R20, R30
	LAST_COLUMN 4, R01, SD, R21, R31
	LAST_COLUMN 8, R02, SE, SB, R32
	LAST_COLUMN 12, R03, R11, SC, SA
	LEAVE
	.size ws_aes_decrypt, . - ws_aes_decrypt

/*
 * void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
 *
 * in:  r25:r24 round keys, r23:r22 key, r20 key words (4, 6, 8)
 * Clobbers r0, r18-r27, r30, r31.
 *
 * A 128-bit key is expanded in sixteen registers. The longer ones keep the last
 * word in registers and read the word key_words back from the round keys.
 */

/* k ^= sbox[from]. LPM may load ZL. 5 cycles. */
.macro SUB_INTO k, from
	mov ZL, \from
	lpm ZL, Z
	eor \k, ZL
.endm

/* One word onto the one before it: w[i] = w[i - 4] ^ w[i - 1], stored. */
.macro CHAIN_WORD a0, a1, a2, a3, b0, b1, b2, b3
	eor \a0, \b0
	st X+, \a0
	eor \a1, \b1
	st X+, \a1
	eor \a2, \b2
	st X+, \a2
	eor \a3, \b3
	st X+, \a3
.endm

/* w[i] = w[i - key_words] ^ t, one byte: Y reads, X writes. */
.macro STEP_BYTE t
	ld r0, Y+
	eor \t, r0
	st X+, \t
.endm

	.section .text.ws_aes_expand, "ax", @progbits
	.global ws_aes_expand
	.type ws_aes_expand, @function
ws_aes_expand:
	movw r26, r24		; X = round keys
	movw r30, r22		; Z = key
	cpi r20, 4
	breq 3f
	rjmp 4f
3:	push r11
	push r12
	push r13
	push r14
	push r15
	push r16
	push r17
	.irp k, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 0, 1
	ld r\k, Z+
	st X+, r\k
	.endr
	ldi ZH, hi8(ws_secret_table_aes_sbox)
	ldi r25, 1		; the round constant, 2^round in GF(2^8)
1:	SUB_INTO r11, r24
	SUB_INTO r12, r0
	SUB_INTO r13, r1
	SUB_INTO r14, r23
	eor r11, r25
	st X+, r11
	st X+, r12
	st X+, r13
	st X+, r14
	CHAIN_WORD r15, r16, r17, r18, r11, r12, r13, r14
	CHAIN_WORD r19, r20, r21, r22, r15, r16, r17, r18
	CHAIN_WORD r23, r24, r0, r1, r19, r20, r21, r22
	lsl r25
	brcc 2f
	ldi r25, 0x1b
2:	cpi r25, 0x6c		; the constant after 0x36, that of round 10
	brne 1b
	pop r17
	pop r16
	pop r15
	pop r14
	pop r13
	pop r12
	pop r11
	clr r1
	ret

/* t = r18, r19, r21, r22; r24 words left; r20 words to a substitution, and r23 of
 * them left. T is set between the two kinds of substitution of AES-256. */
4:	push r28
	push r29
	movw r28, r24		; Y = round keys
	mov r24, r20		; words left: 4 * (key_words + 7) - key_words
	lsl r24
	add r24, r20
	subi r24, -28
	mov r23, r20
5:	ld r18, Z+
	ld r19, Z+
	ld r21, Z+
	ld r22, Z+
	st X+, r18
	st X+, r19
	st X+, r21
	st X+, r22
	dec r23
	brne 5b
	sbrc r20, 3		; AES-256 substitutes every fourth word
	ldi r20, 4
	ldi ZH, hi8(ws_secret_table_aes_sbox)
	ldi r25, 1
6:	clt			; w[i - 1] rotated, substituted, plus the constant
	mov ZL, r18
	lpm r0, Z
	mov ZL, r19
	lpm r18, Z
	eor r18, r25
	mov ZL, r21
	lpm r19, Z
	mov ZL, r22
	lpm r21, Z
	mov r22, r0
	lsl r25			; at most 0x80 is needed: no reduction
7:	mov r23, r20
8:	STEP_BYTE r18
	STEP_BYTE r19
	STEP_BYTE r21
	STEP_BYTE r22
	dec r24
	breq 9f
	dec r23
	brne 8b
	cpi r20, 4
	brne 6b
	brts 6b
	set			; in the middle of a key length, not rotated
	mov ZL, r18
	lpm r18, Z
	mov ZL, r19
	lpm r19, Z
	mov ZL, r21
	lpm r21, Z
	mov ZL, r22
	lpm r22, Z
	rjmp 7b
9:	pop r29
	pop r28
	ret
	.size ws_aes_expand, . - ws_aes_expand
