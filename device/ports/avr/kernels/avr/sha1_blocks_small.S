/*
 * The compression function of SHA-1 for AVR (FIPS 180-4 section 6.1.2), the small
 * variant.
 *
 * Cycles from the call instruction to the return inclusive: 644 and 12670 a block.
 * Stack with the return address: 99 bytes. Flash: 636 bytes, no tables.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1, a counter, is 0 again before
 * returning, so interrupts may stay enabled.
 *
 * Registers are the first 32 bytes of the data space (data sheets of ATmega328P and
 * ATmega128, SRAM data memory); XMEGA and later AVRs differ.
 *
 * The idea. a..e stay in registers, which are loaded, added to the state and saved
 * as memory. Sixteen words of the schedule are made at a time, in place, from three
 * pointers that walk; words 0 and 1 are repeated behind the ring, so that W[t-14]
 * can be read beside W[t-16]. One loop does all rounds and branches to the function
 * by their number.
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
/* In the rounds: the number of the next, and of those left of sixteen. */
#define ROUND r30
#define LEFT r31

.macro ADD_WORD x0, x1, x2, x3, y0, y1, y2, y3
	add \x0, \y0
	adc \x1, \y1
	adc \x2, \y2
	adc \x3, \y3
.endm

.macro ADD_CONSTANT constant
	subi E0, lo8(-(\constant))
	sbci E1, hi8(-(\constant))
	sbci E2, hlo8(-(\constant))
	sbci E3, hhi8(-(\constant))
.endm

.macro XOR_LOADED x, pointer
	ld r0, \pointer
	eor \x, r0
.endm

.macro XOR_DISPLACED x, offset
	ldd r0, Y+\offset
	eor \x, r0
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


/* x rotated right by bits, 1 to 7. Clobbers r0. */
.macro ROTATE_RIGHT x0, x1, x2, x3, bits
	mov r0, \x0
	.rept \bits
	lsr r0
	ror \x3
	ror \x2
	ror \x1
	ror \x0
	.endr
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
	movw r26, r28
	adiw r26, FRAME_RING
	ldd r30, Y+FRAME_DATA
	ldd r31, Y+FRAME_DATA+1
	ldi r18, 16
3:	ld U3, Z+
	ld U2, Z+
	ld U1, Z+
	ld U0, Z+
	st X+, U0
	st X+, U1
	st X+, U2
	st X+, U3
	dec r18
	brne 3b
	std Y+FRAME_DATA, r30
	std Y+FRAME_DATA+1, r31
	ldd r30, Y+FRAME_STATE
	ldd r31, Y+FRAME_STATE+1
	ldi r26, 2		; a..e are r2 to r21
	clr r27
3:	ld r0, Z+
	st X+, r0
	cpi r26, 22
	brne 3b
	adiw r28, FRAME_RING
	clr ROUND

/* Sixteen rounds, Y at the ring. */
4:	ldi LEFT, 16
5:	ld U0, Y+
	ld U1, Y+
	ld U2, Y+
	ld U3, Y+
	ADD_WORD E0, E1, E2, E3, U0, U1, U2, U3
	movw U0, C0
	movw U2, C2
	cpi ROUND, 20
	brsh 3f
	ADD_CONSTANT 0x5a827999
	CHOOSE_BYTE U0, B0, D0
	CHOOSE_BYTE U1, B1, D1
	CHOOSE_BYTE U2, B2, D2
	CHOOSE_BYTE U3, B3, D3
	rjmp 7f
3:	cpi ROUND, 40
	brsh 3f
	ADD_CONSTANT 0x6ed9eba1
	rjmp 6f
3:	cpi ROUND, 60
	brsh 3f
	ADD_CONSTANT 0x8f1bbcdc
	MAJORITY_BYTE U0, B0, D0
	MAJORITY_BYTE U1, B1, D1
	MAJORITY_BYTE U2, B2, D2
	MAJORITY_BYTE U3, B3, D3
	rjmp 7f
3:	ADD_CONSTANT 0xca62c1d6
6:	PARITY_BYTE U0, B0, D0
	PARITY_BYTE U1, B1, D1
	PARITY_BYTE U2, B2, D2
	PARITY_BYTE U3, B3, D3
7:	ADD_WORD E0, E1, E2, E3, U0, U1, U2, U3
	movw U0, A0		; a rotated left by 5 = 8 - 3
	movw U2, A2
	ROTATE_RIGHT U0, U1, U2, U3, 3
	ADD_WORD E0, E1, E2, E3, U3, U0, U1, U2
	ROTATE_RIGHT B0, B1, B2, B3, 2	; left by 30 = 32 - 2
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
	inc ROUND
	dec LEFT
	breq 3f
	rjmp 5b
3:	subi r28, lo8(64)
	sbci r29, hi8(64)
	cpi ROUND, 80
	brne 3f
	rjmp 8f

/* The next sixteen words, Y at W[t-16], X at W[t-8], Z at W[t-3]. */
3:	push ROUND
	movw r26, r28
	adiw r26, 4 * 8
	movw r30, r28
	adiw r30, 4 * 13
	ldi U0, 16
	mov COUNT, U0
5:	ld U0, Y
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
	dec COUNT
	mov U0, COUNT
	cpi U0, 13		; Z from the end to word 0
	brne 3f
	subi r30, lo8(64)
	sbci r31, hi8(64)
3:	cpi U0, 8		; X likewise
	brne 3f
	subi r26, lo8(64)
	sbci r27, hi8(64)
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	ld r0, X+
	std Y+32+\n, r0	; words 0 and 1 behind word 15 too
	.endr
	sbiw r26, 8
3:	tst U0
	breq 3f
	rjmp 5b
3:	subi r28, lo8(64)
	sbci r29, hi8(64)
	pop ROUND
	rjmp 4b

8:	sbiw r28, FRAME_RING
	ldd r30, Y+FRAME_STATE
	ldd r31, Y+FRAME_STATE+1
	ldi r26, 2
	clr r27
	ldi U3, 5
3:
	.irp add, add, adc, adc, adc
	ld r0, Z
	ld U0, X+
	\add r0, U0
	st Z+, r0
	.endr
	dec U3
	brne 3b
	rjmp 1b

9:	movw r26, r28
	adiw r26, FRAME_RING
	ldi U0, 72
3:	st X+, r1
	dec U0
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
	.size ws_sha1_blocks, . - ws_sha1_blocks
