/*
 * The compression function of SHA-512 for AVR (FIPS 180-4 section 6.4.2), the fast
 * variant.
 *
 * Cycles from the call instruction to the return inclusive: 54905 with one
 * block.
 * Stack with the return address: 346 bytes. Flash: 1546 bytes and 640 of constants.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 stays 0, so interrupts may stay
 * enabled. The table is aligned, so that the low bits of its pointer count rounds,
 * and lies in .progmem.data, which avr-ld places behind the vectors, hence below
 * 64 kB, where LPM reaches it on the ATmega128 too.
 *
 * The idea is that of sha256_blocks_fast.S: the working variables lie in an array
 * that begins eight bytes lower each round, and every sixteen rounds it goes back up.
 * Rotations are by bytes (a choice of registers) and a few bits either way, nested
 * where two registers of a word do: Sigma1(x) is (x <<< 2 ^ (x >>> 24 ^ x >>> 1) >>> 1)
 * >>> 16, Sigma0(x) is ((x >>> 2 ^ x >>> 8) >>> 2 ^ x >>> 16 <<< 1) >>> 24. The message
 * schedule is a ring; a round makes its word in the registers that sum T1. Its first word is on
 * top, so that a round's own is at a fixed distance below the array.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

/* The frame, from its lowest byte: the message schedule; the array of working
 * variables with 128 bytes to grow into; the arguments. */
#define FRAME_VARIABLES 128
#define FRAME_STATE 320
#define FRAME_DATA 322
#define FRAME_BLOCKS 324
#define FRAME_SIZE 326
/* What of it is secret, in pieces of 8 bytes. */
#define FRAME_WIPES 40

/* Byte i of three words of 64 bits: T, the sum; V, a working variable; U, of sums of
 * rotations. X at the schedule, else scratch; Y at the array, Z at the constants. */
.set T, 2
.set V, 10
.set U, 18

/* A word from where X, or Y + at, points, and back. */
.macro load_x word
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ld \word + \i, X+
	.endr
.endm
.macro load_y word, at
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd \word + \i, Y + \at + \i
	.endr
.endm
.macro store_y word, at
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	std Y + \at + \i, \word + \i
	.endr
.endm

/* T += a word that begins with its byte `first`. */
.macro add_word from, first
	add T, \from + \first
	.irp i, 1, 2, 3, 4, 5, 6, 7
	adc T + \i, \from + ((\i + \first) & 7)
	.endr
.endm

/* U = V. */
.macro copy
	.irp i, 0, 2, 4, 6
	movw U + \i, V + \i
	.endr
.endm

/* to ^= from >>> 8 bytes. */
.macro mix to, from, bytes
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	eor \to + \i, \from + ((\i + \bytes) & 7)
	.endr
.endm

/* word >>>= 1. Changes r0. */
.macro rotate_right word
	mov r0, \word
	lsr r0
	.irp i, 7, 6, 5, 4, 3, 2, 1, 0
	ror \word + \i
	.endr
.endm

/* word <<= 1, with the bit that falls out in the carry; and with it put in. */
.macro shift_left word
	lsl \word
	.irp i, 1, 2, 3, 4, 5, 6, 7
	rol \word + \i
	.endr
.endm
.macro rotate_left word
	shift_left \word
	adc \word, r1
.endm

/* X = word t of the ring, which goes down as Y does. */
.macro at_word_now
	movw r26, r28
	subi r26, FRAME_VARIABLES + 8
	sbci r27, 0
.endm

/* X = word t + n of the ring, of which the low bits of Z have t. Changes U. */
.macro at_word n
	ldi U, lo8(1 - 8 * (\n + 1))
	sub U, r30
	andi U, 0x7f
	in r26, SPL_IO
	in r27, SPH_IO
	add r26, U
	adc r27, r1
.endm

	.section .progmem.data.ws_sha512_constants, "a", @progbits
	.balign 128
	.type ws_sha512_constants, @object
ws_sha512_constants:
	.long 0xd728ae22, 0x428a2f98, 0x23ef65cd, 0x71374491
	.long 0xec4d3b2f, 0xb5c0fbcf, 0x8189dbbc, 0xe9b5dba5
	.long 0xf348b538, 0x3956c25b, 0xb605d019, 0x59f111f1
	.long 0xaf194f9b, 0x923f82a4, 0xda6d8118, 0xab1c5ed5
	.long 0xa3030242, 0xd807aa98, 0x45706fbe, 0x12835b01
	.long 0x4ee4b28c, 0x243185be, 0xd5ffb4e2, 0x550c7dc3
	.long 0xf27b896f, 0x72be5d74, 0x3b1696b1, 0x80deb1fe
	.long 0x25c71235, 0x9bdc06a7, 0xcf692694, 0xc19bf174
	.long 0x9ef14ad2, 0xe49b69c1, 0x384f25e3, 0xefbe4786
	.long 0x8b8cd5b5, 0x0fc19dc6, 0x77ac9c65, 0x240ca1cc
	.long 0x592b0275, 0x2de92c6f, 0x6ea6e483, 0x4a7484aa
	.long 0xbd41fbd4, 0x5cb0a9dc, 0x831153b5, 0x76f988da
	.long 0xee66dfab, 0x983e5152, 0x2db43210, 0xa831c66d
	.long 0x98fb213f, 0xb00327c8, 0xbeef0ee4, 0xbf597fc7
	.long 0x3da88fc2, 0xc6e00bf3, 0x930aa725, 0xd5a79147
	.long 0xe003826f, 0x06ca6351, 0x0a0e6e70, 0x14292967
	.long 0x46d22ffc, 0x27b70a85, 0x5c26c926, 0x2e1b2138
	.long 0x5ac42aed, 0x4d2c6dfc, 0x9d95b3df, 0x53380d13
	.long 0x8baf63de, 0x650a7354, 0x3c77b2a8, 0x766a0abb
	.long 0x47edaee6, 0x81c2c92e, 0x1482353b, 0x92722c85
	.long 0x4cf10364, 0xa2bfe8a1, 0xbc423001, 0xa81a664b
	.long 0xd0f89791, 0xc24b8b70, 0x0654be30, 0xc76c51a3
	.long 0xd6ef5218, 0xd192e819, 0x5565a910, 0xd6990624
	.long 0x5771202a, 0xf40e3585, 0x32bbd1b8, 0x106aa070
	.long 0xb8d2d0c8, 0x19a4c116, 0x5141ab53, 0x1e376c08
	.long 0xdf8eeb99, 0x2748774c, 0xe19b48a8, 0x34b0bcb5
	.long 0xc5c95a63, 0x391c0cb3, 0xe3418acb, 0x4ed8aa4a
	.long 0x7763e373, 0x5b9cca4f, 0xd6b2b8a3, 0x682e6ff3
	.long 0x5defb2fc, 0x748f82ee, 0x43172f60, 0x78a5636f
	.long 0xa1f0ab72, 0x84c87814, 0x1a6439ec, 0x8cc70208
	.long 0x23631e28, 0x90befffa, 0xde82bde9, 0xa4506ceb
	.long 0xb2c67915, 0xbef9a3f7, 0xe372532b, 0xc67178f2
	.long 0xea26619c, 0xca273ece, 0x21c0c207, 0xd186b8c7
	.long 0xcde0eb1e, 0xeada7dd6, 0xee6ed178, 0xf57d4f7f
	.long 0x72176fba, 0x06f067aa, 0xa2c898a6, 0x0a637dc5
	.long 0xbef90dae, 0x113f9804, 0x131c471b, 0x1b710b35
	.long 0x23047d84, 0x28db77f5, 0x40c72493, 0x32caab7b
	.long 0x15c9bebc, 0x3c9ebe0a, 0x9c100d4c, 0x431d67c4
	.long 0xcb3e42b6, 0x4cc5d4be, 0xfc657e2a, 0x597f299c
	.long 0x3ad6faec, 0x5fcb6fab, 0x4a475817, 0x6c44198c
	.size ws_sha512_constants, . - ws_sha512_constants

	.section .text.ws_sha512_blocks, "ax", @progbits
	.globl ws_sha512_blocks
	.type ws_sha512_blocks, @function
ws_sha512_blocks:
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push r\n
	.endr
	in r28, SPL_IO
	in r29, SPH_IO
	subi r28, lo8(FRAME_SIZE)
	sbci r29, hi8(FRAME_SIZE)
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	adiw r28, 1
	subi r28, lo8(-FRAME_STATE)
	sbci r29, hi8(-FRAME_STATE)
	st Y, r24
	std Y + 1, r25
	std Y + FRAME_DATA - FRAME_STATE, r22
	std Y + FRAME_DATA - FRAME_STATE + 1, r23
	std Y + FRAME_BLOCKS - FRAME_STATE, r20
	std Y + FRAME_BLOCKS - FRAME_STATE + 1, r21

/* Y = FRAME_STATE. The next block, if one is left. */
1:	ldd r24, Y + FRAME_BLOCKS - FRAME_STATE
	ldd r25, Y + FRAME_BLOCKS - FRAME_STATE + 1
	sbiw r24, 1
	brcc 0f
	rjmp 8f
0:	std Y + FRAME_BLOCKS - FRAME_STATE, r24
	std Y + FRAME_BLOCKS - FRAME_STATE + 1, r25
	ldd r30, Y + FRAME_DATA - FRAME_STATE
	ldd r31, Y + FRAME_DATA - FRAME_STATE + 1
	in r26, SPL_IO
	in r27, SPH_IO
	subi r26, lo8(-(FRAME_VARIABLES - 8 + 1))
	sbci r27, hi8(-(FRAME_VARIABLES - 8 + 1))
	ldi r18, 16
0:
	.irp i, 7, 6, 5, 4, 3, 2, 1, 0
	ld V + \i, Z+
	.endr
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	st X+, V + \i
	.endr
	sbiw r26, 16
	dec r18
	brne 0b
	std Y + FRAME_DATA - FRAME_STATE, r30
	std Y + FRAME_DATA - FRAME_STATE + 1, r31
	ld r30, Y
	ldd r31, Y + 1
	sbiw r28, 32
	sbiw r28, 32
	movw r26, r28
	ldi r18, 8
0:
	.irp i, 4, 5, 6, 7, 0, 1, 2, 3
	ld V + \i, Z+
	.endr
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	st X+, V + \i
	.endr
	dec r18
	brne 0b
	ldi r30, lo8(ws_sha512_constants)
	ldi r31, hi8(ws_sha512_constants)
	clt

/* The first 16 rounds take words of the message. */
2:	at_word_now
	load_x T
	rjmp 4f

/* The word of a later round: those of 16, 15, 7 and 2 rounds before. */
3:	at_word_now
	load_x T
	at_word 1
	load_x V
	/* Byte i of the sum of rotations is in U + i + 1. V << 2 without what was its lowest bit
	 * is, from byte 1 on, the word >> 7. */
	copy
	rotate_right V
	mix U, V, 7
	shift_left V
	clr r0
	shift_left V
	rol r0
	.irp i, 1, 2, 3, 4, 5, 6, 7
	eor U + \i, V + \i
	.endr
	eor U, r0
	add_word U, 1
	at_word 9
	ld r0, X+
	add T, r0
	.irp i, 1, 2, 3, 4, 5, 6, 7
	ld r0, X+
	adc T + \i, r0
	.endr
	at_word 14
	load_x V
	clr r0
	shift_left V
	rol r0
	shift_left V
	rol r0
	copy
	mov U, r0
	shift_left V
	rol r0
	or V, r0
	mix U, V, 7
	rotate_left V
	rotate_left V
	mix U, V, 2
	add_word U, 1
	at_word_now
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	st X+, T + \i
	.endr

/* T = T1 = h + Sigma1(e) + Ch(e, f, g) + K + W. */
4:	lpm r0, Z+
	add T, r0
	.irp i, 1, 2, 3, 4, 5, 6, 7
	lpm r0, Z+
	adc T + \i, r0
	.endr
	ldd r0, Y + 56
	add T, r0
	.irp i, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Y + 56 + \i
	adc T + \i, r0
	.endr
	load_y V, 32
	clc
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Y + 40 + \i
	ldd r26, Y + 48 + \i
	eor r0, r26
	and r0, V + \i
	eor r0, r26
	adc T + \i, r0
	.endr
	copy
	rotate_right V
	mix V, U, 3
	rotate_right V
	rotate_left U
	rotate_left U
	mix U, V, 0
	add_word U, 2
	/* The new e, over d. */
	load_y U, 24
	add U, T
	.irp i, 1, 2, 3, 4, 5, 6, 7
	adc U + \i, T + \i
	.endr
	store_y U, 24
	/* T += Maj(a, b, c) + Sigma0(a), the new a. */
	load_y V, 0
	clc
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Y + 8 + \i
	ldd r26, Y + 16 + \i
	mov r27, r0
	and r27, r26
	or r0, r26
	and r0, V + \i
	or r0, r27
	adc T + \i, r0
	.endr
	copy
	rotate_right V
	rotate_right V
	mix V, U, 1
	rotate_right V
	rotate_right V
	rotate_left U
	mix V, U, 2
	add_word V, 3
	sbiw r28, 8
	store_y T, 0

	mov r18, r30
	andi r18, 0x7f
	breq 5f
	brtc 0f
	rjmp 3b
0:	rjmp 2b

/* Every 16 rounds the array goes back up. From then on T is set: words are made. */
5:	set
	cpi r30, lo8(ws_sha512_constants + 640)
	ldi r18, hi8(ws_sha512_constants + 640)
	cpc r31, r18
	breq 7f
	movw r26, r28
	subi r26, -128
	sbci r27, -1
	ldi r18, 8
0:	.rept 8
	ld r0, Y+
	st X+, r0
	.endr
	dec r18
	brne 0b
	movw r28, r26
	sbiw r28, 32
	sbiw r28, 32
	rjmp 3b

/* The working variables, at Y, onto the state. */
7:	movw r26, r28
	subi r28, lo8(-FRAME_STATE + FRAME_VARIABLES)
	sbci r29, hi8(-FRAME_STATE + FRAME_VARIABLES)
	ld r30, Y
	ldd r31, Y + 1
	ldi r18, 8
0:	load_x V
	.irp i, 4, 5, 6, 7, 0, 1, 2, 3
	ld T + \i, Z+
	.endr
	add_word V, 0
	.irp i, 3, 2, 1, 0, 7, 6, 5, 4
	st -Z, T + \i
	.endr
	adiw r30, 8
	dec r18
	brne 0b
	rjmp 1b

8:	in r28, SPL_IO
	in r29, SPH_IO
	adiw r28, 1
	ldi r18, FRAME_WIPES
0:	.rept 8
	st Y+, r1
	.endr
	dec r18
	brne 0b
	adiw r28, FRAME_SIZE - FRAME_STATE - 1
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	.irp n, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop r\n
	.endr
	ret
	.size ws_sha512_blocks, . - ws_sha512_blocks
