/*
 * Keccak-f[1600] for AVR (FIPS 202 section 3), the fast variant: a round at a time in place, lanes of eight bytes.
 *
 * in:  r24:r25 state.
 * Cycles from the call instruction to the return inclusive: 118618.
 * Stack with the return address: 61 bytes. Flash: 4280 bytes and 96 of constants.
 * Clobbers: r0, r18 to r27, r30, r31; r1 is 0 again at the end.
 *
 * Constant flow: no branch and no address depends on the state. The frame on the stack is wiped, and registers are the caller's to
 * clear.
 *
 * The stack pointer moves by push, pop, return and the sequence of avr-gcc (interrupts off between its two halves), so
 * interrupts may stay enabled. The constants lie in .progmem.data, which avr-ld places behind the vectors, hence below 64 kB,
 * where LPM reaches them on every part.
 *
 * The idea, as on the MSP430. Rho and pi are one walk through the 24 lanes that they move: a lane is turned in eight registers
 * while the one whose place it takes waits in eight others. What theta adds to a lane is added when it is taken. A lane is turned by at
 * most four bits, either way, and by whole bytes in the order in which they are stored. Of a round constant only four
 * bytes are ever other than 0.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

/* The frame: D of theta, or the parities of the columns. */
#define FRAME_SIZE 40

/* The frame's address is in Y, and Z goes about in the state. */
#include "keccak_permutation.inc"

/* Z at a lane. */
	.macro at lane
	movw r30, STATE
	.if \lane
	subi r30, lo8(-(8 * (\lane)))
	sbci r31, hi8(-(8 * (\lane)))
	.endif
	.endm

/* Takes a lane of a column, with D, and leaves Z there. */
	.macro take lane, column, w0, w1, w2, w3, w4, w5, w6, w7
	at \lane
	take_byte \w0, 0, \column
	take_byte \w1, 1, \column
	take_byte \w2, 2, \column
	take_byte \w3, 3, \column
	take_byte \w4, 4, \column
	take_byte \w5, 5, \column
	take_byte \w6, 6, \column
	take_byte \w7, 7, \column
	.endm

	.macro take_byte w, i, column
	ldd \w, Z+\i
	ldd r0, Y+8*\column+\i
	eor \w, r0
	.endm

/* Gives a lane to where Z is. */
	.macro give w0, w1, w2, w3, w4, w5, w6, w7
	st Z, \w0
	std Z+1, \w1
	std Z+2, \w2
	std Z+3, \w3
	std Z+4, \w4
	std Z+5, \w5
	std Z+6, \w6
	std Z+7, \w7
	.endm

	.macro turn_right n, w0, w1, w2, w3, w4, w5, w6, w7
	.rept \n
	bst \w0, 0
	lsr \w7
	ror \w6
	ror \w5
	ror \w4
	ror \w3
	ror \w2
	ror \w1
	ror \w0
	bld \w7, 7
	.endr
	.endm

/* The parity of the column that Z is at, into the frame. */
	.macro parity x
	at \x
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd 2+\i, Z+\i
	ldd r0, Z+40+\i
	eor 2+\i, r0
	.endr
	subi r30, lo8(-80)
	sbci r31, hi8(-80)
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\i
	eor 2+\i, r0
	ldd r0, Z+40+\i
	eor 2+\i, r0
	.endr
	subi r30, lo8(-80)
	sbci r31, hi8(-80)
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\i
	eor 2+\i, r0
	std Y+8*\x+\i, 2+\i
	.endr
	.endm

/* Registers from w on and a column of the frame. */
	.macro load w, x
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd \w+\i, Y+8*\x+\i
	.endr
	.endm

/* D of column x in the place of its parity: that to its left, which is in r2 to r9, ^ that to its right, turned by one bit. Then r2 to r9
 * are the parity of column x. */
	.macro spread x, right
	.if \x < 4
	load 10, \right
	.else
	movw r10, r18
	movw r12, r20
	movw r14, r22
	movw r16, r24
	.endif
	turn_left 1, r10, r11, r12, r13, r14, r15, r16, r17
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	eor 10+\i, 2+\i
	ldd 2+\i, Y+8*\x+\i
	std Y+8*\x+\i, 10+\i
	.endr
	.endm

	.section .text.ws_keccak_permute, "ax", @progbits
	.global ws_keccak_permute
	.type ws_keccak_permute, @function
ws_keccak_permute:
	.irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push \i
	.endr
	in r28, SPL_IO
	in r29, SPH_IO
	sbiw r28, FRAME_SIZE
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	adiw r28, 1
	movw STATE, r24
	clr r24
.Lround:
	/* How many rounds were before. */
	push r24
	.irp x, 0, 1, 2, 3, 4
	parity \x
	.endr
	/* The parity of column 0 is needed once more at the end. */
	load 18, 0
	load 2, 4
	spread 0, 1
	spread 1, 2
	spread 2, 3
	spread 3, 4
	spread 4, 0

	/* Lane 0 stays where it is. */
	take 0, 0, r2, r3, r4, r5, r6, r7, r8, r9
	give r2, r3, r4, r5, r6, r7, r8, r9
	take 1, 1, r2, r3, r4, r5, r6, r7, r8, r9
	take 10, 0, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 1, r2, r3, r4, r5, r6, r7, r8, r9
	give r2, r3, r4, r5, r6, r7, r8, r9
	take 7, 2, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 3, r10, r11, r12, r13, r14, r15, r16, r17
	give r10, r11, r12, r13, r14, r15, r16, r17
	take 11, 1, r10, r11, r12, r13, r14, r15, r16, r17
	turn_right 2, r2, r3, r4, r5, r6, r7, r8, r9
	give r9, r2, r3, r4, r5, r6, r7, r8
	take 17, 2, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 2, r10, r11, r12, r13, r14, r15, r16, r17
	give r17, r10, r11, r12, r13, r14, r15, r16
	take 18, 3, r10, r11, r12, r13, r14, r15, r16, r17
	turn_right 1, r2, r3, r4, r5, r6, r7, r8, r9
	give r8, r9, r2, r3, r4, r5, r6, r7
	take 3, 3, r2, r3, r4, r5, r6, r7, r8, r9
	turn_right 3, r10, r11, r12, r13, r14, r15, r16, r17
	give r15, r16, r17, r10, r11, r12, r13, r14
	take 5, 0, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 4, r2, r3, r4, r5, r6, r7, r8, r9
	give r7, r8, r9, r2, r3, r4, r5, r6
	take 16, 1, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 4, r10, r11, r12, r13, r14, r15, r16, r17
	give r14, r15, r16, r17, r10, r11, r12, r13
	take 8, 3, r10, r11, r12, r13, r14, r15, r16, r17
	turn_right 3, r2, r3, r4, r5, r6, r7, r8, r9
	give r4, r5, r6, r7, r8, r9, r2, r3
	take 21, 1, r2, r3, r4, r5, r6, r7, r8, r9
	turn_right 1, r10, r11, r12, r13, r14, r15, r16, r17
	give r11, r12, r13, r14, r15, r16, r17, r10
	take 24, 4, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 2, r2, r3, r4, r5, r6, r7, r8, r9
	give r2, r3, r4, r5, r6, r7, r8, r9
	take 4, 4, r2, r3, r4, r5, r6, r7, r8, r9
	turn_right 2, r10, r11, r12, r13, r14, r15, r16, r17
	give r16, r17, r10, r11, r12, r13, r14, r15
	take 15, 0, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 3, r2, r3, r4, r5, r6, r7, r8, r9
	give r7, r8, r9, r2, r3, r4, r5, r6
	take 23, 3, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 1, r10, r11, r12, r13, r14, r15, r16, r17
	give r13, r14, r15, r16, r17, r10, r11, r12
	take 19, 4, r10, r11, r12, r13, r14, r15, r16, r17
	give r3, r4, r5, r6, r7, r8, r9, r2
	take 13, 3, r2, r3, r4, r5, r6, r7, r8, r9
	give r17, r10, r11, r12, r13, r14, r15, r16
	take 12, 2, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 1, r2, r3, r4, r5, r6, r7, r8, r9
	give r7, r8, r9, r2, r3, r4, r5, r6
	take 2, 2, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 3, r10, r11, r12, r13, r14, r15, r16, r17
	give r13, r14, r15, r16, r17, r10, r11, r12
	take 20, 0, r10, r11, r12, r13, r14, r15, r16, r17
	turn_right 2, r2, r3, r4, r5, r6, r7, r8, r9
	give r2, r3, r4, r5, r6, r7, r8, r9
	take 14, 4, r2, r3, r4, r5, r6, r7, r8, r9
	turn_left 2, r10, r11, r12, r13, r14, r15, r16, r17
	give r16, r17, r10, r11, r12, r13, r14, r15
	take 22, 2, r10, r11, r12, r13, r14, r15, r16, r17
	turn_right 1, r2, r3, r4, r5, r6, r7, r8, r9
	give r5, r6, r7, r8, r9, r2, r3, r4
	take 9, 4, r2, r3, r4, r5, r6, r7, r8, r9
	turn_right 3, r10, r11, r12, r13, r14, r15, r16, r17
	give r10, r11, r12, r13, r14, r15, r16, r17
	take 6, 1, r10, r11, r12, r13, r14, r15, r16, r17
	turn_left 4, r2, r3, r4, r5, r6, r7, r8, r9
	give r8, r9, r2, r3, r4, r5, r6, r7
	at 1
	turn_left 4, r10, r11, r12, r13, r14, r15, r16, r17
	give r13, r14, r15, r16, r17, r10, r11, r12

	chi_rows

	pop r24
	mov r30, r24
	clr r31
	lsl r30
	lsl r30
	subi r30, lo8(-(ws_keccak_round_constants))
	sbci r31, hi8(-(ws_keccak_round_constants))
	lpm r2, Z+
	lpm r3, Z+
	lpm r4, Z+
	lpm r5, Z
	movw r30, STATE
	ld r0, Z
	eor r0, r2
	st Z, r0
	ldd r0, Z+1
	eor r0, r3
	std Z+1, r0
	ldd r0, Z+3
	eor r0, r4
	std Z+3, r0
	ldd r0, Z+7
	eor r0, r5
	std Z+7, r0
	inc r24
	cpi r24, 24
	breq 1f
#ifdef __AVR_HAVE_JMP_CALL__
	jmp .Lround
#else
	rjmp .Lround
#endif
1:
	ldi r18, FRAME_SIZE
2:	st Y+, r1
	dec r18
	brne 2b
	sbiw r28, 1
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	.irp i, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop \i
	.endr
	ret
	.size ws_keccak_permute, . - ws_keccak_permute
