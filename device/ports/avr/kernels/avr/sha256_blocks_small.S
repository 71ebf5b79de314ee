/*
 * The compression function of SHA-256 for AVR (FIPS 180-4 section 6.2.2), the
 * small variant.
 *
 * Cycles from the call instruction to the return inclusive: 1104 and 32017 a block.
 * Stack with the return address: 194 bytes. Flash: 786 bytes and 256 of constants.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1, the counter of rounds, is 0
 * again before returning, so interrupts may stay enabled. The constants lie in
 * .progmem.data, which avr-ld places behind the vectors, hence below 64 kB, where
 * LPM reaches them on the ATmega128 too.
 *
 * Registers are the first 32 bytes of the data space (data sheets of ATmega328P and
 * ATmega128, SRAM data memory); XMEGA and later AVRs differ.
 *
 * The idea. As in the fast variant, the working variables lie in one array that
 * begins four bytes lower each round, and b ^ c is the a ^ b of the round before.
 * Here one routine rotates right, and the three rotations of a function follow one
 * another: by 25, 11 and 6 are 1, 3 and 6 bits and whole bytes, which are a choice
 * of registers.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

/* The frame, from its lowest byte: the arguments; the array of working variables
 * with 64 bytes to grow into; the message schedule, and its word 0 again behind
 * word 15. */
#define FRAME_STATE 0
#define FRAME_DATA 2
#define FRAME_BLOCKS 4
#define FRAME_ARRAY 6
#define FRAME_SCHEDULE (FRAME_ARRAY + 96)
#define FRAME_SIZE (FRAME_SCHEDULE + 68)

/* Words of the rounds: a; the sum; b ^ c; scratch; and the one that rotates. */
#define A0 r2
#define A1 r3
#define A2 r4
#define A3 r5
#define T0 r6
#define T1 r7
#define T2 r8
#define T3 r9
#define BC0 r10
#define BC1 r11
#define BC2 r12
#define BC3 r13
#define U0 r14
#define U1 r15
#define U2 r16
#define U3 r17
#define V0 r18
#define V1 r19
#define V2 r20
#define V3 r21
#define BITS r22
#define COUNT r1

/* In the schedule: W[t+1], scratch, W[t+14], W[t], W[t+15]; V as above. */
#define X0 r2
#define X1 r3
#define X2 r4
#define X3 r5
#define S0 r6
#define S1 r7
#define S2 r8
#define S3 r9
#define M0 r10
#define M2 r12
#define W0 r14
#define W1 r15
#define W2 r16
#define W3 r17
#define N0 r24
#define N1 r25
#define N2 r26
#define N3 r27
#define MASKED r23

	.section .progmem.data.ws_sha256_constants, "a", @progbits
	.type ws_sha256_constants, @object
ws_sha256_constants:
	.long 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5
	.long 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
	.long 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
	.long 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
	.long 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc
	.long 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
	.long 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7
	.long 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
	.long 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
	.long 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
	.long 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3
	.long 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
	.long 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5
	.long 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
	.long 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
	.long 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
	.size ws_sha256_constants, . - ws_sha256_constants

.macro XOR_WORD x0, x1, x2, x3, y0, y1, y2, y3
	eor \x0, \y0
	eor \x1, \y1
	eor \x2, \y2
	eor \x3, \y3
.endm

.macro ADD_WORD x0, x1, x2, x3, y0, y1, y2, y3
	add \x0, \y0
	adc \x1, \y1
	adc \x2, \y2
	adc \x3, \y3
.endm

.macro LOAD_Y x0, x1, x2, x3, offset
	ldd \x0, Y+\offset
	ldd \x1, Y+\offset+1
	ldd \x2, Y+\offset+2
	ldd \x3, Y+\offset+3
.endm

.macro STORE_Y x0, x1, x2, x3, offset
	std Y+\offset, \x0
	std Y+\offset+1, \x1
	std Y+\offset+2, \x2
	std Y+\offset+3, \x3
.endm

/* x += the word at a pointer that counts up; load is ld or lpm. */
.macro ADD_LOADED load, pointer, x0, x1, x2, x3
	\load r0, \pointer
	add \x0, r0
	\load r0, \pointer
	adc \x1, r0
	\load r0, \pointer
	adc \x2, r0
	\load r0, \pointer
	adc \x3, r0
.endm

/* One byte of Ch(e, f, g) = ((f ^ g) & e) ^ g, added to t with the carry of the byte
 * before. */
.macro CHOOSE_BYTE add, t, u, e, offset
	ldd \u, Y+24+\offset
	ldd r0, Y+28+\offset
	eor \u, r0
	and \u, \e
	eor \u, r0
	\add \t, \u
.endm

/* One byte of Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b likewise; u is a and becomes
 * a ^ b. */
.macro MAJORITY_BYTE add, t, u, bc, offset
	ldd r0, Y+8+\offset
	eor \u, r0
	and \bc, \u
	eor \bc, r0
	\add \t, \bc
.endm

.macro ROTATE bits
	ldi BITS, \bits
	rcall ws_sha256_rotate
.endm

/* V rotated right by BITS, 1 to 7. Clobbers r0. */
	.section .text.ws_sha256_rotate, "ax", @progbits
	.type ws_sha256_rotate, @function
ws_sha256_rotate:
	mov r0, V0
1:	lsr r0
	ror V3
	ror V2
	ror V1
	ror V0
	dec BITS
	brne 1b
	ret
	.size ws_sha256_rotate, . - ws_sha256_rotate

/*
 * void ws_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
 *
 * in:  r25:r24 state, r23:r22 data, r21:r20 blocks, 0 allowed
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_sha256_blocks, "ax", @progbits
	.global ws_sha256_blocks
	.type ws_sha256_blocks, @function
ws_sha256_blocks:
	ldi r26, 2		; r2 to r17, as memory
	clr r27
1:	ld r0, X+
	push r0
	cpi r26, 18
	brne 1b
	push r28
	push r29
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
	std Y+FRAME_STATE, r24
	std Y+FRAME_STATE+1, r25
	std Y+FRAME_DATA, r22
	std Y+FRAME_DATA+1, r23
	std Y+FRAME_BLOCKS, r20
	std Y+FRAME_BLOCKS+1, r21

/* A block. Y at the frame. */
1:	ldd r24, Y+FRAME_BLOCKS
	ldd r25, Y+FRAME_BLOCKS+1
	sbiw r24, 1
	brcc 2f
	rjmp 9f
2:	std Y+FRAME_BLOCKS, r24
	std Y+FRAME_BLOCKS+1, r25
	ldd r30, Y+FRAME_STATE
	ldd r31, Y+FRAME_STATE+1
	movw r26, r28
	subi r26, lo8(-(FRAME_ARRAY + 64))
	sbci r27, hi8(-(FRAME_ARRAY + 64))
	ldi r22, 32
3:	ld r0, Z+
	st X+, r0
	dec r22
	brne 3b
	ldd r30, Y+FRAME_DATA	; X is at the schedule
	ldd r31, Y+FRAME_DATA+1
	ldi r22, 16
3:	ld V3, Z+
	ld V2, Z+
	ld V1, Z+
	ld V0, Z+
	st X+, V0
	st X+, V1
	st X+, V2
	st X+, V3
	dec r22
	brne 3b
	std Y+FRAME_DATA, r30
	std Y+FRAME_DATA+1, r31
	subi r28, lo8(-(FRAME_ARRAY + 60))
	sbci r29, hi8(-(FRAME_ARRAY + 60))
	ldi r30, lo8(ws_sha256_constants)
	ldi r31, hi8(ws_sha256_constants)

/* Sixteen rounds. The array begins at Y+4, and the new a goes to Y. */
4:	LOAD_Y A0, A1, A2, A3, 4
	LOAD_Y BC0, BC1, BC2, BC3, 8
	LOAD_Y U0, U1, U2, U3, 12
	XOR_WORD BC0, BC1, BC2, BC3, U0, U1, U2, U3
	movw r26, r28
	adiw r26, FRAME_SCHEDULE - (FRAME_ARRAY + 60)
	ldi V0, 16
	mov COUNT, V0
5:	LOAD_Y T0, T1, T2, T3, 32
	ADD_LOADED ld, X+, T0, T1, T2, T3
	ADD_LOADED lpm, Z+, T0, T1, T2, T3
	LOAD_Y V0, V1, V2, V3, 20
	CHOOSE_BYTE add, T0, U0, V0, 0
	CHOOSE_BYTE adc, T1, U1, V1, 1
	CHOOSE_BYTE adc, T2, U2, V2, 2
	CHOOSE_BYTE adc, T3, U3, V3, 3
	ROTATE 1		; 25 = 24 + 1
	mov U0, V3
	mov U1, V0
	mov U2, V1
	mov U3, V2
	ROTATE 2		; 11 = 8 + 3
	XOR_WORD U0, U1, U2, U3, V1, V2, V3, V0
	ROTATE 3		; 6
	XOR_WORD U0, U1, U2, U3, V0, V1, V2, V3
	ADD_WORD T0, T1, T2, T3, U0, U1, U2, U3
	LOAD_Y V0, V1, V2, V3, 16
	ADD_WORD V0, V1, V2, V3, T0, T1, T2, T3
	STORE_Y V0, V1, V2, V3, 16
	movw V0, A0
	movw V2, A2
	ROTATE 2		; 2
	movw U0, V0
	movw U2, V2
	ROTATE 3		; 13 = 8 + 5
	XOR_WORD U0, U1, U2, U3, V1, V2, V3, V0
	ROTATE 1		; 22 = 16 + 6
	XOR_WORD U0, U1, U2, U3, V2, V3, V0, V1
	ADD_WORD T0, T1, T2, T3, U0, U1, U2, U3
	MAJORITY_BYTE add, T0, A0, BC0, 0
	MAJORITY_BYTE adc, T1, A1, BC1, 1
	MAJORITY_BYTE adc, T2, A2, BC2, 2
	MAJORITY_BYTE adc, T3, A3, BC3, 3
	STORE_Y T0, T1, T2, T3, 0
	movw BC0, A0
	movw BC2, A2
	movw A0, T0
	movw A2, T2
	sbiw r28, 4
	dec COUNT
	breq 6f
	rjmp 5b

6:	cpi r30, lo8(ws_sha256_constants)
	brne 3f
	rjmp 8f			; 256 bytes on
3:	push r30
	push r31
	movw r26, r28		; the array back up
	adiw r26, 4
	movw r30, r26
	subi r30, lo8(-64)
	sbci r31, hi8(-64)
	ldi r22, 32
3:	ld r0, X+
	st Z+, r0
	dec r22
	brne 3b
/* The next sixteen words of the schedule, in place; Z is at it. */
	movw r28, r30
	adiw r30, 4 * 9
	LOAD_Y W0, W1, W2, W3, 0
	LOAD_Y M0, r11, M2, r13, 56
	LOAD_Y N0, N1, N2, N3, 60
	ldi V0, 16
	mov COUNT, V0
7:	LOAD_Y X0, X1, X2, X3, 4
	movw V0, X0
	movw V2, X2
	ROTATE 2		; 18 = 16 + 2
	movw S0, V2
	movw S2, V0
	ROTATE 1		; shifted by 3
	eor S0, V0
	eor S1, V1
	eor S2, V2
	mov MASKED, V3
	andi MASKED, 0x1f
	eor S3, MASKED
	ROTATE 4		; 7
	XOR_WORD S0, S1, S2, S3, V0, V1, V2, V3
	ADD_WORD W0, W1, W2, W3, S0, S1, S2, S3
	movw V0, M0
	movw V2, M2
	ROTATE 1		; 17 = 16 + 1
	movw S0, V2
	movw S2, V0
	ROTATE 1		; shifted by 10 = 8 + 2
	eor S0, V1
	eor S1, V2
	mov MASKED, V3
	andi MASKED, 0x3f
	eor S2, MASKED
	ROTATE 1		; 19 = 16 + 3
	XOR_WORD S0, S1, S2, S3, V2, V3, V0, V1
	ADD_WORD W0, W1, W2, W3, S0, S1, S2, S3
	ADD_LOADED ld, Z+, W0, W1, W2, W3
	STORE_Y W0, W1, W2, W3, 0
	movw M0, N0
	movw M2, N2
	movw N0, W0
	movw N2, W2
	movw W0, X0
	movw W2, X2
	adiw r28, 4
	dec COUNT
	mov V0, COUNT
	cpi V0, 15
	brne 3f
	STORE_Y N0, N1, N2, N3, 60	; the new word 0, behind word 15 too
3:	cpi V0, 9		; Z from the end to word 0
	brne 3f
	subi r30, lo8(64)
	sbci r31, hi8(64)
3:	tst V0
	breq 3f
	rjmp 7b
3:	subi r28, lo8(FRAME_SCHEDULE + 64 - (FRAME_ARRAY + 60))
	sbci r29, hi8(FRAME_SCHEDULE + 64 - (FRAME_ARRAY + 60))
	pop r31
	pop r30
	rjmp 4b

/* The working variables onto the state. Y + 4 is FRAME_ARRAY. */
8:	movw r26, r28
	adiw r26, 4
	sbiw r28, FRAME_ARRAY - 4
	ldd r30, Y+FRAME_STATE
	ldd r31, Y+FRAME_STATE+1
	ldi r22, 8
3:
	.irp add, add, adc, adc, adc
	ld r0, Z
	ld r23, X+
	\add r0, r23
	st Z+, r0
	.endr
	dec r22
	brne 3b
	rjmp 1b

9:	movw r26, r28
	adiw r26, FRAME_ARRAY
	ldi r22, FRAME_SIZE - FRAME_ARRAY
3:	st X+, r1
	dec r22
	brne 3b
	subi r28, lo8(1 - FRAME_SIZE)
	sbci r29, hi8(1 - FRAME_SIZE)
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	pop r29
	pop r28
	ldi r26, 18
	clr r27
3:	pop r0
	st -X, r0
	cpi r26, 2
	brne 3b
	ret
	.size ws_sha256_blocks, . - ws_sha256_blocks
