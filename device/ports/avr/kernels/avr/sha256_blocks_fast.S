/*
 * The compression function of SHA-256 for AVR (FIPS 180-4 section 6.2.2), the
 * fast variant.
 *
 * Cycles from the call instruction to the return inclusive: 533 and 19184 a block.
 * Stack with the return address: 191 bytes. Flash: 1640 bytes and 256 of constants.
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
 * The idea. The working variables b..d and f..h are the former a and e, so they
 * lie in memory in one array that begins four bytes lower each round: a round
 * stores the new a below it and the new e over d, and moves nothing. Every sixteen
 * rounds the array goes back up. a and e are in registers, and so is b ^ c, which
 * is a ^ b of the round before: Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. Rotations
 * are by bytes (a choice of registers) and at most three bits either way. Sixteen
 * words of the message schedule are made at a time, in place.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

/* The frame, from its lowest byte: the array of working variables with 64 bytes to
 * grow into; the message schedule, and its word 0 again behind word 15; the
 * arguments. */
#define FRAME_VARIABLES 0
#define FRAME_SCHEDULE 96
#define FRAME_STATE 164
#define FRAME_DATA 166
#define FRAME_BLOCKS 168
#define FRAME_SIZE 170
/* What of it is secret, in pieces of 8 bytes. */
#define FRAME_WIPES 21

/* In the rounds: a and the sum T1 change places each round, and so do b ^ c and U,
 * scratch; e; f; X at the schedule, Y at the array, Z at the constants. */
#define E0 r18
#define E1 r19
#define E2 r20
#define E3 r21
#define F0 r22
#define F1 r23
#define F2 r24
#define F3 r25

	.section .progmem.data.ws_sha256_constants, "a", @progbits
	.balign 256
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

/* x rotated left by one bit; r1 is 0. 5 cycles. */
.macro ROTATE_LEFT x0, x1, x2, x3
	lsl \x0
	rol \x1
	rol \x2
	rol \x3
	adc \x0, r1
.endm

/* x rotated right by one bit more. r0 = x0 before the first. 5 cycles. */
.macro ROTATE_RIGHT x0, x1, x2, x3
	lsr r0
	ror \x3
	ror \x2
	ror \x1
	ror \x0
.endm

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

/* One byte of Ch(e, f, g) = ((f ^ g) & e) ^ g, added to t with the carry of the byte
 * before. Clobbers f. */
.macro CHOOSE_BYTE add, t, e, f, g
	ldd r0, Y+\g
	eor \f, r0
	and \f, \e
	eor \f, r0
	\add \t, \f
.endm

/* One byte of Maj(a, b, c) likewise; u is a and becomes a ^ b; bc is b ^ c. */
.macro MAJORITY_BYTE add, t, u, bc, b
	ldd r0, Y+\b
	eor \u, r0
	and \bc, \u
	eor \bc, r0
	\add \t, \bc
.endm

/*
 * A round. Its new a goes to Y+to: b is at Y+to+8, and so on. Leaves the new a in
 * t, a ^ b in u, and E and F for the next round. 196 cycles.
 */
.macro ROUND to, a0, a1, a2, a3, t0, t1, t2, t3, bc0, bc1, bc2, bc3, u0, u1, u2, u3
	LOAD_Y \t0, \t1, \t2, \t3, (\to+32)
	ld r0, X+
	add \t0, r0
	ld r0, X+
	adc \t1, r0
	ld r0, X+
	adc \t2, r0
	ld r0, X+
	adc \t3, r0
	lpm r0, Z+
	add \t0, r0
	lpm r0, Z+
	adc \t1, r0
	lpm r0, Z+
	adc \t2, r0
	lpm r0, Z+
	adc \t3, r0
	CHOOSE_BYTE add, \t0, E0, F0, (\to+28)
	CHOOSE_BYTE adc, \t1, E1, F1, (\to+29)
	CHOOSE_BYTE adc, \t2, E2, F2, (\to+30)
	CHOOSE_BYTE adc, \t3, E3, F3, (\to+31)
	movw F0, E0		; f of the next round
	movw F2, E2
/* e rotated right by 6 = 8 - 2, 25 = 24 + 1 and 11 = 8 + 3. */
	movw \u0, E0
	movw \u2, E2
	ROTATE_LEFT \u0, \u1, \u2, \u3
	ROTATE_LEFT \u0, \u1, \u2, \u3
	mov r0, E0
	ROTATE_RIGHT E0, E1, E2, E3
	XOR_WORD \u0, \u1, \u2, \u3, E2, E3, E0, E1
	ROTATE_RIGHT E0, E1, E2, E3
	ROTATE_RIGHT E0, E1, E2, E3
	XOR_WORD \u0, \u1, \u2, \u3, E0, E1, E2, E3
	ADD_WORD \t0, \t1, \t2, \t3, \u1, \u2, \u3, \u0

	LOAD_Y E0, E1, E2, E3, (\to+16)
	ADD_WORD E0, E1, E2, E3, \t0, \t1, \t2, \t3
	STORE_Y E0, E1, E2, E3, (\to+16)

	movw \u0, \a0
	movw \u2, \a2
	MAJORITY_BYTE add, \t0, \u0, \bc0, (\to+8)
	MAJORITY_BYTE adc, \t1, \u1, \bc1, (\to+9)
	MAJORITY_BYTE adc, \t2, \u2, \bc2, (\to+10)
	MAJORITY_BYTE adc, \t3, \u3, \bc3, (\to+11)
/* a rotated right by 2, 22 = 24 - 2 and 13 = 16 - 3. */
	movw \bc0, \a0
	movw \bc2, \a2
	mov r0, \a0
	ROTATE_RIGHT \bc0, \bc1, \bc2, \bc3
	ROTATE_RIGHT \bc0, \bc1, \bc2, \bc3
	ROTATE_LEFT \a0, \a1, \a2, \a3
	ROTATE_LEFT \a0, \a1, \a2, \a3
	XOR_WORD \bc0, \bc1, \bc2, \bc3, \a3, \a0, \a1, \a2
	ROTATE_LEFT \a0, \a1, \a2, \a3
	XOR_WORD \bc0, \bc1, \bc2, \bc3, \a2, \a3, \a0, \a1
	ADD_WORD \t0, \t1, \t2, \t3, \bc0, \bc1, \bc2, \bc3
	STORE_Y \t0, \t1, \t2, \t3, \to
.endm

/*
 * A word of the schedule, W[t+16] over W[t]: w holds W[t], Y+at is its place, n is
 * W[t+14], Z at W[t+9]. Leaves W[t+1] in x, W[t+16] in n. Clobbers r0, r6-r9,
 * r18-r21, r23. 98 cycles.
 */
.macro SCHEDULE_WORD at, w0, w1, w2, w3, x0, x1, x2, x3, n0, n1, n2, n3
/* W[t+1] rotated right by 7 = 8 - 1 and 18 = 16 + 2, and shifted by 3. */
	LOAD_Y \x0, \x1, \x2, \x3, (\at+4)
	movw r6, \x0
	movw r8, \x2
	ROTATE_LEFT r6, r7, r8, r9
	movw r18, \x0
	movw r20, \x2
	mov r0, r18
	ROTATE_RIGHT r18, r19, r20, r21
	ROTATE_RIGHT r18, r19, r20, r21
	XOR_WORD r6, r7, r8, r9, r19, r20, r21, r18
	andi r21, 0x3f
	lsr r21
	ror r20
	ror r19
	ror r18
	XOR_WORD r7, r8, r9, r6, r18, r19, r20, r21
	ADD_WORD \w0, \w1, \w2, \w3, r7, r8, r9, r6
/* W[t+14] rotated right by 17 = 16 + 1 and 19 = 16 + 3, and shifted by 10. */
	mov r0, \n0
	ROTATE_RIGHT \n0, \n1, \n2, \n3
	movw r6, \n2
	movw r8, \n0
	ROTATE_RIGHT \n0, \n1, \n2, \n3
	eor r6, \n1
	eor r7, \n2
	mov r23, \n3
	andi r23, 0x3f
	eor r8, r23
	ROTATE_RIGHT \n0, \n1, \n2, \n3
	XOR_WORD r6, r7, r8, r9, \n2, \n3, \n0, \n1
	ADD_WORD \w0, \w1, \w2, \w3, r6, r7, r8, r9
	ld r0, Z+
	add \w0, r0
	ld r0, Z+
	adc \w1, r0
	ld r0, Z+
	adc \w2, r0
	ld r0, Z+
	adc \w3, r0
	STORE_Y \w0, \w1, \w2, \w3, \at
	movw \n0, \w0
	movw \n2, \w2
.endm

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
	movw r26, r28		; the arguments into the frame
	subi r26, lo8(-FRAME_STATE)
	sbci r27, hi8(-FRAME_STATE)
	st X+, r24
	st X+, r25
	st X+, r22
	st X+, r23
	st X+, r20
	st X+, r21

/* A block. Y at the frame. */
1:	movw r26, r28
	subi r26, lo8(-FRAME_STATE)
	sbci r27, hi8(-FRAME_STATE)
	ld r18, X+		; state
	ld r19, X+
	ld r30, X+		; data
	ld r31, X+
	ld r24, X+		; blocks
	ld r25, X
	sbiw r24, 1
	brcc 2f
	rjmp 8f
2:	st X, r25
	st -X, r24
	movw r26, r28		; the message in words of this processor's order
	subi r26, lo8(-FRAME_SCHEDULE)
	sbci r27, hi8(-FRAME_SCHEDULE)
	ldi r20, 16
3:	ld r24, Z+
	ld r23, Z+
	ld r22, Z+
	ld r21, Z+
	st X+, r21
	st X+, r22
	st X+, r23
	st X+, r24
	dec r20
	brne 3b
	adiw r26, FRAME_DATA - (FRAME_SCHEDULE + 64)
	st X+, r30
	st X, r31
	adiw r28, 56		; the array begins at Y+8
	movw r30, r18
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ld r0, Z+
	std Y+8+\n, r0
	.endr
	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ld r0, Z+
	std Y+8+\n, r0
	.endr
	ldi r30, lo8(ws_sha256_constants)
	ldi r31, hi8(ws_sha256_constants)

/* Sixteen rounds. */
4:	LOAD_Y r2, r3, r4, r5, 8
	LOAD_Y r10, r11, r12, r13, 12
	LOAD_Y r14, r15, r16, r17, 16
	XOR_WORD r10, r11, r12, r13, r14, r15, r16, r17
	LOAD_Y E0, E1, E2, E3, 24
	LOAD_Y F0, F1, F2, F3, 28
	movw r26, r28
	adiw r26, FRAME_SCHEDULE - 56
5:	ROUND 4, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17
	ROUND 0, r6, r7, r8, r9, r2, r3, r4, r5, r14, r15, r16, r17, r10, r11, r12, r13
	sbiw r28, 8
	mov r0, r30		; 64 bytes of constants used?
	lsl r0
	lsl r0
	breq 6f
	rjmp 5b

6:	movw r26, r28
	tst r30
	brne 0f
	rjmp 7f
/* The array back up, but for a, e and f, which are in registers; X at g. */
0:	adiw r26, 32
	LOAD_Y r6, r7, r8, r9, 12
	LOAD_Y r10, r11, r12, r13, 16
	LOAD_Y r14, r15, r16, r17, 20
	subi r28, lo8(-64)
	sbci r29, hi8(-64)
	STORE_Y r2, r3, r4, r5, 8
	STORE_Y r6, r7, r8, r9, 12
	STORE_Y r10, r11, r12, r13, 16
	STORE_Y r14, r15, r16, r17, 20
	STORE_Y E0, E1, E2, E3, 24
	STORE_Y F0, F1, F2, F3, 28
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	ld r0, X+
	std Y+32+\n, r0
	.endr
/* The next sixteen words of the schedule. */
	push r30
	adiw r28, FRAME_SCHEDULE - 56
	movw r30, r28
	adiw r30, 36		; W[9]
	LOAD_Y r14, r15, r16, r17, 0
	LOAD_Y r10, r11, r12, r13, 56
	LOAD_Y r24, r25, r26, r27, 60
	ldi r22, 8
5:	SCHEDULE_WORD 0, r14, r15, r16, r17, r2, r3, r4, r5, r10, r11, r12, r13
	SCHEDULE_WORD 4, r2, r3, r4, r5, r14, r15, r16, r17, r24, r25, r26, r27
	adiw r28, 8
	cpi r22, 8
	brne 0f
	STORE_Y r10, r11, r12, r13, 56	; the new word 0, behind word 15 too
0:	cpi r22, 5		; Z from word 17 to word 1
	brne 0f
	subi r30, lo8(64)
	sbci r31, hi8(64)
0:	dec r22
	breq 0f
	rjmp 5b
0:	subi r28, lo8(FRAME_SCHEDULE + 64 - 56)
	sbci r29, hi8(FRAME_SCHEDULE + 64 - 56)
	pop r30
	ldi r31, hi8(ws_sha256_constants)
	rjmp 4b

/* The working variables, at X+8, onto the state. Y = X + 8 is the frame again. */
7:	adiw r26, 8
	movw r28, r26
	subi r26, lo8(-FRAME_STATE)
	sbci r27, hi8(-FRAME_STATE)
	ld r30, X+
	ld r31, X
	movw r26, r28
	ldi r20, 8
0:
	.irp add, add, adc, adc, adc
	ld r0, Z
	ld r21, X+
	\add r0, r21
	st Z+, r0
	.endr
	dec r20
	brne 0b
	rjmp 1b

8:	movw r26, r28
	ldi r20, FRAME_WIPES
9:	.rept 8
	st X+, r1
	.endr
	dec r20
	brne 9b
	subi r28, lo8(-FRAME_SIZE + 1)
	sbci r29, hi8(-FRAME_SIZE + 1)
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	.irp n, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop r\n
	.endr
	ret
	.size ws_sha256_blocks, . - ws_sha256_blocks
