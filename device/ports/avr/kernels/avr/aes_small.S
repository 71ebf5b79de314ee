/*
 * AES-128/192/256 for AVR (FIPS-197), the small variant.
 *
 * Cycles from the call instruction to the return inclusive, stack with the
 * return address, flash with the routines of its own but without the S-box of 256
 * bytes; encryption and decryption share 156 bytes of theirs, so that the two with
 * the S-box take 550 bytes, and 658 with the expansion:
 *
 *                        128     192     256   stack   code
 *     ws_aes_encrypt    8984   10744   12504      20    176
 *     ws_aes_decrypt   17124   20552   23980      20    274
 *     ws_aes_expand     4690    5290    6732       2    108
 *
 * Constant flow: the instructions and the addresses in RAM depend on the key
 * size alone. Secret bytes index the S-box in flash, which AVR reads in the same
 * three cycles at every address. The table lies in .progmem.data, which avr-ld
 * places behind the vectors and before the code, hence below 64 kB, where LPM
 * reaches it on the ATmega128 too.
 *
 * The stack pointer moves by push, pop, call and return only and r1 is 0 again
 * before returning, so interrupts may stay enabled. Nothing stays on the stack: the
 * end overwrites what was pushed.
 *
 * The idea. The state is in out. Each step is a loop that pushes the new state and
 * a common end that pops it into out, so that a step may read in any order: rows
 * shifted by ShiftRows are bytes 0, 5, 10, .. modulo 16, and by InvShiftRows bytes
 * 0, 13, 10, .., from either of which every byte follows. There is no inverse
 * S-box: with A the affine map of FIPS-197 section 5.1.1 and S(x) = A(1/x),
 *     InvS(x) = 1/Ainv(x) = Ainv(S(Ainv(x))).
 */

#define ZL r30
#define ZH r31

/* These three are the arguments, where the caller put them; KEYS moves on. */
#define KEYS r24
#define ROUNDS r22
#define OUT r18
/* Scratch, but for STEP on the way to ws_aes_sub_shift; IN is the argument. */
#define IN r20
#define P r20
#define Q r21
#define STEP r23
#define R r26
#define S r27

/* Of a step's return address all but the first byte, and the 16 of the state. */
#ifdef __AVR_3_BYTE_PC__
#define LEFT_BELOW 18
#else
#define LEFT_BELOW 17
#endif

	.section .progmem.data.ws_secret_table_aes_sbox, "a", @progbits
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

/* x = sbox[ZL]. Clobbers Z. */
.macro SUBSTITUTE x
	clr ZH
	subi ZL, lo8(-(ws_secret_table_aes_sbox))
	sbci ZH, hi8(-(ws_secret_table_aes_sbox))
	lpm \x, Z
.endm

/* x times 2 in GF(2^8); t scratch. */
.macro DOUBLE x, t
	lsl \x
	sbc \t, \t
	andi \t, 0x1b
	eor \x, \t
.endm

/*
 * ws_aes_add_key: out = the 16 bytes at Z, plus the round key at KEYS; KEYS to the
 * next. ws_aes_sub_shift: out = S-box of its bytes 0, STEP, 2 STEP, ..
 * Both leave Z at out.
 */
	.section .text.ws_aes_steps, "ax", @progbits
	.type ws_aes_add_key, @function
ws_aes_add_key:
	movw r26, KEYS
	ldi STEP, 16
1:	ld r0, X+
	ld P, Z+
	eor r0, P
	push r0
	dec STEP
	brne 1b
	movw KEYS, r26
	rjmp 3f
	.size ws_aes_add_key, . - ws_aes_add_key

	.type ws_aes_sub_shift, @function
ws_aes_sub_shift:
	clr R
2:	movw r30, OUT
	add ZL, R
	adc ZH, r1
	ld ZL, Z
	SUBSTITUTE r0
	push r0
	add R, STEP
	andi R, 15
	brne 2b
3:	movw r30, OUT
	adiw r30, 16
4:	pop r0
	st -Z, r0
	cp ZL, OUT
	brne 4b
	ret
	.size ws_aes_sub_shift, . - ws_aes_sub_shift

/* Ends an encryption or a decryption: what the steps left below the return address becomes zero. */
	.type ws_aes_clear, @function
ws_aes_clear:
	in ZL, 0x3d		; SPL, SPH
	in ZH, 0x3e
	ldi STEP, LEFT_BELOW
5:	st -Z, r1
	dec STEP
	brne 5b
	ret
	.size ws_aes_clear, . - ws_aes_clear

/*
 * MixColumns of out, from the last column to the first, with Z at out before and
 * after; ws_aes_mix_down with Z behind out before. With y0 = a0 ^ 2(a0 ^ a1), y1
 * and y2 likewise and t = a0 ^ a1 ^ a2 ^ a3, the column becomes y0 ^ t, y1 ^ t,
 * y2 ^ t, y0 ^ y1 ^ y2, because every column of the matrix sums to 1.
 */
	.section .text.ws_aes_mix, "ax", @progbits
	.type ws_aes_mix, @function
ws_aes_mix:
	adiw r30, 16
ws_aes_mix_down:
1:	ld Q, -Z
	ld P, -Z
	ld r1, -Z
	ld r0, -Z
	eor Q, P
	mov R, Q
	DOUBLE R, STEP
	mov S, P
	eor S, r1
	DOUBLE S, STEP
	eor P, R
	mov R, r0
	eor R, r1
	eor Q, R
	DOUBLE R, STEP
	eor r1, S
	eor r0, R
	mov S, r0
	eor S, r1
	eor S, P
	eor r0, Q
	eor r1, Q
	eor P, Q
	st Z, r0
	std Z+1, r1
	std Z+2, P
	std Z+3, S
	cp ZL, OUT
	brne 1b
	clr r1
	ret
	.size ws_aes_mix, . - ws_aes_mix

/*
 * InvMixColumns of out, with Z at out before and after: 4(a0 ^ a2) onto a0 and a2,
 * 4(a1 ^ a3) onto a1 and a3, then MixColumns.
 */
	.section .text.ws_aes_unmix, "ax", @progbits
	.type ws_aes_unmix, @function
ws_aes_unmix:
	ldi R, 8
1:	ld r0, Z
	ldd P, Z+2
	mov Q, r0
	eor Q, P
	DOUBLE Q, STEP
	DOUBLE Q, STEP
	eor r0, Q
	eor P, Q
	st Z+, r0
	std Z+1, P
	sbrc R, 0		; every other time to the next column
	adiw r30, 2
	dec R
	brne 1b
	rjmp ws_aes_mix_down
	.size ws_aes_unmix, . - ws_aes_unmix

/*
 * The inverse of the S-box's affine map on each byte x of out, with Z at out before
 * and after: x <<< 1 ^ x <<< 3 ^ x <<< 6 ^ 5, factored as
 * (x ^ x <<< 2 ^ x <<< 5) <<< 1 ^ 5, where <<< 5 is <<< 1 and the nibbles swapped.
 */
	.section .text.ws_aes_inverse_affine, "ax", @progbits
	.type ws_aes_inverse_affine, @function
ws_aes_inverse_affine:
	ldi R, 16
	ldi S, 5
1:	ld P, Z
	mov Q, P
	lsl Q
	adc Q, r1
	mov r0, Q
	swap r0
	lsl Q
	adc Q, r1
	eor P, Q
	eor P, r0
	lsl P
	adc P, r1
	eor P, S
	st Z+, P
	dec R
	brne 1b
	sbiw r30, 16
	ret
	.size ws_aes_inverse_affine, . - ws_aes_inverse_affine

/*
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 *
 * in:  r25:r24 round keys, r22 rounds (10, 12, 14), r21:r20 in, r19:r18 out
 * Clobbers r0, r20-r27, r30, r31. in and out may be the same.
 */
	.section .text.ws_aes_encrypt, "ax", @progbits
	.global ws_aes_encrypt
	.type ws_aes_encrypt, @function
ws_aes_encrypt:
	movw r30, IN
1:	rcall ws_aes_add_key
	ldi STEP, 5
	rcall ws_aes_sub_shift
	dec ROUNDS
	breq 2f
	rcall ws_aes_mix
	rjmp 1b
2:	rcall ws_aes_add_key
	rjmp ws_aes_clear
	.size ws_aes_encrypt, . - ws_aes_encrypt

/*
 * void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 *
 * in:  r25:r24 round keys, r22 rounds (10, 12, 14), r21:r20 in, r19:r18 out
 * Clobbers r0, r20-r27, r30, r31. in and out may be the same.
 */
	.section .text.ws_aes_decrypt, "ax", @progbits
	.global ws_aes_decrypt
	.type ws_aes_decrypt, @function
ws_aes_decrypt:
	mov STEP, ROUNDS	; KEYS += 16 * rounds: the last round key
	swap STEP
	add KEYS, STEP
	adc r25, r1
	movw r30, IN
	rcall ws_aes_add_key
1:	rcall ws_aes_inverse_affine
	ldi STEP, 13
	rcall ws_aes_sub_shift
	rcall ws_aes_inverse_affine
	sbiw KEYS, 32
	rcall ws_aes_add_key
	dec ROUNDS
	breq 2f
	rcall ws_aes_unmix
	rjmp 1b
2:	rjmp ws_aes_clear
	.size ws_aes_decrypt, . - ws_aes_decrypt

/*
 * void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
 *
 * in:  r25:r24 round keys, r23:r22 key, r20 key words (4, 6, 8)
 * Clobbers r0, r18-r27, r30, r31.
 *
 * Byte by byte behind X: the byte four before, or, where a word is rotated, three
 * before but seven at the word's end; substituted where FIPS-197 section 5.2 says
 * so; plus the byte a key length before.
 */
#define PLACE r18		/* in the key length, from 0 */
#define LEFT r19		/* bytes left */
#define LENGTH r20		/* of the key, in bytes */
#define CONSTANT r21		/* of the round, 2^round in GF(2^8) */

	.section .text.ws_aes_expand, "ax", @progbits
	.global ws_aes_expand
	.type ws_aes_expand, @function
ws_aes_expand:
	movw r26, r24
	movw r30, r22
	lsl LENGTH
	lsl LENGTH
	mov PLACE, LENGTH
1:	ld r0, Z+
	st X+, r0
	dec PLACE
	brne 1b
	mov LEFT, LENGTH	; 16 * (key_words + 7) - 4 * key_words
	lsl LEFT
	add LEFT, LENGTH
	subi LEFT, -112
	ldi CONSTANT, 1
2:	movw r30, r26
	sbiw r30, 7
	cpi PLACE, 4
	brsh 4f
	ldd r0, Z+4
	cpi PLACE, 3
	brne 3f
	ld r0, Z
3:	mov ZL, r0
	SUBSTITUTE r0
	tst PLACE
	brne 5f
	eor r0, CONSTANT
	lsl CONSTANT
	brcc 5f
	ldi CONSTANT, 0x1b
	rjmp 5f
4:	ldd r0, Z+3
	cpi LENGTH, 32		; the fifth word of AES-256
	brne 5f
	mov r22, PLACE
	andi r22, 0xfc
	cpi r22, 16
	breq 3b
5:	movw r30, r26
	sub ZL, LENGTH
	sbc ZH, r1
	ld r22, Z
	eor r0, r22
	st X+, r0
	inc PLACE
	cpse PLACE, LENGTH
	rjmp 6f
	clr PLACE
6:	dec LEFT
	brne 2b
	ret
	.size ws_aes_expand, . - ws_aes_expand
