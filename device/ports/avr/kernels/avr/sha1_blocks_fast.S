/*
 * The compression function of SHA-1 for AVR (FIPS 180-4 section 6.1.2), the fast
 * variant.
 *
 * Cycles from the call instruction to the return inclusive: 293 and 10445 a block.
 * Stack with the return address: 100 bytes. Flash: 1590 bytes, no tables.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1, the counter of rounds, is 0
 * again before returning, so interrupts may stay enabled.
 *
 * The idea. a..e stay in registers. W[t] = (W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16])
 * rotated is made in place in a ring of sixteen words just before its round, from
 * three pointers that walk without a test: rounds come in runs between the points
 * where a pointer leaves the ring or the function changes. Words 0 and 1 are
 * repeated behind the ring, so that W[t-14] can be read beside W[t-16].
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

/* The frame, from its lowest byte: the arguments, the ring. */
#define FRAME_STATE 0
#define FRAME_DATA 2
#define FRAME_BLOCKS 4
#define FRAME_RING 6
#define FRAME_SIZE (FRAME_RING + 72)

#define A0 r2
#define A1 r3
#define A2 r4
#define A3 r5
#define B0 r6
#define B1 r7
#define B2 r8
#define B3 r9
#define C0 r10
#define C1 r11
#define C2 r12
#define C3 r13
#define D0 r14
#define D1 r15
#define D2 r16
#define D3 r17
#define E0 r18
#define E1 r19
#define E2 r20
#define E3 r21
/* Scratch. */
#define U0 r22
#define U1 r23
#define U2 r24
#define U3 r25
#define COUNT r1

.macro ADD_WORD x0, x1, x2, x3, y0, y1, y2, y3
	add \x0, \y0
	adc \x1, \y1
	adc \x2, \y2
	adc \x3, \y3
.endm

.macro XOR_LOADED x, pointer
	ld r0, \pointer
	eor \x, r0
.endm

.macro XOR_DISPLACED x, offset
	ldd r0, Y+\offset
	eor \x, r0
.endm

/* U = the next word of the schedule: Y at W[t-16], X at W[t-8], Z at W[t-3], all of
 * which move on. 58 cycles. */
.macro SCHEDULE_WORD
	ld U0, Y
	ldd U1, Y+1
	ldd U2, Y+2
	ldd U3, Y+3
	XOR_DISPLACED U0, 8
	XOR_DISPLACED U1, 9
	XOR_DISPLACED U2, 10
	XOR_DISPLACED U3, 11
	XOR_LOADED U0, X+
	XOR_LOADED U1, X+
	XOR_LOADED U2, X+
	XOR_LOADED U3, X+
	XOR_LOADED U0, Z+
	XOR_LOADED U1, Z+
	XOR_LOADED U2, Z+
	XOR_LOADED U3, Z+
	bst U3, 7
	lsl U0
	rol U1
	rol U2
	rol U3
	bld U0, 0
	st Y+, U0
	st Y+, U1
	st Y+, U2
	st Y+, U3
.endm

/* U = the next word of the message, from Z, stored at Y. */
.macro MESSAGE_WORD
	ld U3, Z+
	ld U2, Z+
	ld U1, Z+
	ld U0, Z+
	st Y+, U0
	st Y+, U1
	st Y+, U2
	st Y+, U3
.endm

/* One byte of each function into u, which is c. */
.macro CHOOSE_BYTE u, b, d
	eor \u, \d
	and \u, \b
	eor \u, \d
.endm

.macro PARITY_BYTE u, b, d
	eor \u, \d
	eor \u, \b
.endm

.macro MAJORITY_BYTE u, b, d
	mov r0, \b
	eor r0, \d
	eor \u, \d
	and \u, r0
	eor \u, \d
.endm

/* COUNT rounds whose word comes from a macro, and whose function from another. */
.macro ROUNDS word, function, constant
1:	\word
	ADD_WORD E0, E1, E2, E3, U0, U1, U2, U3
	subi E0, lo8(-(\constant))
	sbci E1, hi8(-(\constant))
	sbci E2, hlo8(-(\constant))
	sbci E3, hhi8(-(\constant))
	movw U0, C0
	movw U2, C2
	\function U0, B0, D0
	\function U1, B1, D1
	\function U2, B2, D2
	\function U3, B3, D3
	ADD_WORD E0, E1, E2, E3, U0, U1, U2, U3
	movw U0, A0		; a rotated left by 5 = 8 - 3
	movw U2, A2
	mov r0, U0
	.rept 3
	lsr r0
	ror U3
	ror U2
	ror U1
	ror U0
	.endr
	ADD_WORD E0, E1, E2, E3, U3, U0, U1, U2
	mov r0, B0		; b rotated left by 30 = 32 - 2
	.rept 2
	lsr r0
	ror B3
	ror B2
	ror B1
	ror B0
	.endr
	movw U0, E0
	movw U2, E2
	movw E0, D0
	movw E2, D2
	movw D0, C0
	movw D2, C2
	movw C0, B0
	movw C2, B2
	movw B0, A0
	movw B2, A2
	movw A0, U0
	movw A2, U2
	dec COUNT
	breq 2f
	rjmp 1b
2:
.endm

	.section .text.ws_sha1_choose, "ax", @progbits
	.type ws_sha1_choose, @function
ws_sha1_choose:
	ROUNDS SCHEDULE_WORD, CHOOSE_BYTE, 0x5a827999
	ret
	.size ws_sha1_choose, . - ws_sha1_choose

	.section .text.ws_sha1_parity, "ax", @progbits
	.type ws_sha1_parity, @function
ws_sha1_parity:
	ROUNDS SCHEDULE_WORD, PARITY_BYTE, 0x6ed9eba1
	ret
	.size ws_sha1_parity, . - ws_sha1_parity

	.section .text.ws_sha1_majority, "ax", @progbits
	.type ws_sha1_majority, @function
ws_sha1_majority:
	ROUNDS SCHEDULE_WORD, MAJORITY_BYTE, 0x8f1bbcdc
	ret
	.size ws_sha1_majority, . - ws_sha1_majority

	.section .text.ws_sha1_last, "ax", @progbits
	.type ws_sha1_last, @function
ws_sha1_last:
	ROUNDS SCHEDULE_WORD, PARITY_BYTE, 0xca62c1d6
	ret
	.size ws_sha1_last, . - ws_sha1_last

/* Round 3 of each sixteen: Z is at the end of the ring, Y at word 3. Z back to word
 * 0; words 0 and 1 to behind the ring. */
	.section .text.ws_sha1_repeat, "ax", @progbits
	.type ws_sha1_repeat, @function
ws_sha1_repeat:
	subi r30, lo8(64)
	sbci r31, hi8(64)
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\n
	std Y+64-12+\n, r0
	.endr
	ret
	.size ws_sha1_repeat, . - ws_sha1_repeat

.macro RUN count, rounds
	ldi U0, \count
	mov COUNT, U0
	rcall \rounds
.endm

/* Round 8 of each sixteen. */
.macro REWIND_X
	subi r26, lo8(64)
	sbci r27, hi8(64)
.endm

/* Round 16 of each sixteen. */
.macro REWIND_Y
	subi r28, lo8(64)
	sbci r29, hi8(64)
.endm

/* The word at Z += x, and Z moves on. */
.macro ADD_TO_STATE x0, x1, x2, x3
	ld r0, Z
	add r0, \x0
	st Z+, r0
	ld r0, Z
	adc r0, \x1
	st Z+, r0
	ld r0, Z
	adc r0, \x2
	st Z+, r0
	ld r0, Z
	adc r0, \x3
	st Z+, r0
.endm

/*
 * void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
 *
 * in:  r25:r24 state, r23:r22 data, r21:r20 blocks, 0 allowed
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_sha1_blocks, "ax", @progbits
	.global ws_sha1_blocks
	.type ws_sha1_blocks, @function
ws_sha1_blocks:
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
	std Y+FRAME_STATE, r24
	std Y+FRAME_STATE+1, r25
	std Y+FRAME_DATA, r22
	std Y+FRAME_DATA+1, r23
	std Y+FRAME_BLOCKS, r20
	std Y+FRAME_BLOCKS+1, r21

/* A block. Y at the frame. */
3:	ldd r24, Y+FRAME_BLOCKS
	ldd r25, Y+FRAME_BLOCKS+1
	sbiw r24, 1
	brcc 4f
	rjmp 6f
4:	std Y+FRAME_BLOCKS, r24
	std Y+FRAME_BLOCKS+1, r25
	ldd r26, Y+FRAME_STATE
	ldd r27, Y+FRAME_STATE+1
	ldd r30, Y+FRAME_DATA
	ldd r31, Y+FRAME_DATA+1
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	ld r\n, X+
	.endr
	adiw r28, FRAME_RING
	ldi U0, 16
	mov COUNT, U0
	ROUNDS MESSAGE_WORD, CHOOSE_BYTE, 0x5a827999
	REWIND_Y
	sbiw r28, FRAME_RING
	std Y+FRAME_DATA, r30
	std Y+FRAME_DATA+1, r31
	adiw r28, FRAME_RING
	movw r26, r28
	adiw r26, 4 * 8
	movw r30, r28
	adiw r30, 4 * 13

	RUN 3, ws_sha1_choose
	rcall ws_sha1_repeat
	RUN 1, ws_sha1_choose
	RUN 4, ws_sha1_parity
	REWIND_X
	RUN 8, ws_sha1_parity
	REWIND_Y
	RUN 3, ws_sha1_parity
	rcall ws_sha1_repeat
	RUN 5, ws_sha1_parity
	REWIND_X
	RUN 8, ws_sha1_majority
	REWIND_Y
	RUN 3, ws_sha1_majority
	rcall ws_sha1_repeat
	RUN 5, ws_sha1_majority
	REWIND_X
	RUN 4, ws_sha1_majority
	RUN 4, ws_sha1_last
	REWIND_Y
	RUN 3, ws_sha1_last
	rcall ws_sha1_repeat
	RUN 5, ws_sha1_last
	REWIND_X
	RUN 8, ws_sha1_last

	subi r28, lo8(64 + FRAME_RING)
	sbci r29, hi8(64 + FRAME_RING)
	ldd r30, Y+FRAME_STATE
	ldd r31, Y+FRAME_STATE+1
	ADD_TO_STATE A0, A1, A2, A3
	ADD_TO_STATE B0, B1, B2, B3
	ADD_TO_STATE C0, C1, C2, C3
	ADD_TO_STATE D0, D1, D2, D3
	ADD_TO_STATE E0, E1, E2, E3
	rjmp 3b

6:	movw r26, r28
	adiw r26, FRAME_RING
	ldi U0, 9
7:	.rept 8
	st X+, r1
	.endr
	dec U0
	brne 7b
	subi r28, lo8(1 - FRAME_SIZE)
	sbci r29, hi8(1 - FRAME_SIZE)
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	.irp n, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop r\n
	.endr
	ret
	.size ws_sha1_blocks, . - ws_sha1_blocks
