/*
 * Keccak-f[1600] for AVR (FIPS 202 section 3), the small variant: a round at a time in place, each of its steps in loops.
 *
 * in:  r24:r25 state.
 * Cycles from the call instruction to the return inclusive: 192912.
 * Stack with the return address: 60 bytes. Flash: 506 bytes and 144 of constants.
 * Clobbers: r0, r18 to r27, r30, r31; r1 is 0 again at the end.
 *
 * Constant flow: no branch and no address depends on the state. The frame on the stack is wiped, and registers are the caller's to
 * clear.
 */

#include "frames.inc"
#include "keccak_permutation.inc"

/* The frame: the parities of the columns. */
#define FRAME_SIZE 40

/* Which lane a lane goes to, beginning with lane 1, and there the next one, in bytes from the state's beginning; and by how many bits it is
 * turned: sections 3.2.3 and 3.2.2. */
	.section .progmem.data.ws_keccak_walk, "a", @progbits
	.type ws_keccak_walk, @object
ws_keccak_walk:
	.byte 80, 1, 56, 3, 88, 6, 136, 10, 144, 15, 24, 21, 40, 28, 128, 36, 64, 45, 168, 55, 192, 2, 32, 14
	.byte 120, 27, 184, 41, 152, 56, 104, 8, 96, 25, 16, 43, 160, 62, 112, 18, 176, 39, 72, 61, 48, 20, 8, 44
	.equ .Lend_of_walk, .
	.size ws_keccak_walk, . - ws_keccak_walk

/* Z at a register's number of bytes from a base. */
	.macro at base, offset
	movw r30, \base
	add r30, \offset
	adc r31, r1
	.endm

	.section .text.ws_keccak_permute, "ax", @progbits
	.global ws_keccak_permute
	.type ws_keccak_permute, @function
ws_keccak_permute:
	FRAME_ENTER FRAME_SIZE
	adiw r28, 1
	movw STATE, r24
	/* Four times how many rounds were before. */
	clr r23
.Lround:
	/* The parities, a byte at a time. */
	movw r30, STATE
	ldi r18, 40
.Lparity:
	ld r0, Z
	ldd r19, Z+40
	eor r0, r19
	subi r30, lo8(-80)
	sbci r31, hi8(-80)
	ld r19, Z
	eor r0, r19
	ldd r19, Z+40
	eor r0, r19
	subi r30, lo8(-80)
	sbci r31, hi8(-80)
	ld r19, Z
	eor r0, r19
	st Y+, r0
	subi r30, lo8(159)
	sbci r31, hi8(159)
	dec r18
	brne .Lparity
	sbiw r28, 40

	/* Theta of a column: r20, r21 and r22 are its place, that to its left and that to its right, in bytes. */
	clr r20
	ldi r21, 32
	ldi r22, 8
.Lcolumn:
	at r28, r22
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd 2+\i, Z+\i
	.endr
	turn_left 1, r2, r3, r4, r5, r6, r7, r8, r9
	at r28, r21
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\i
	eor 2+\i, r0
	.endr
	at STATE, r20
	ldi r18, 5
.Llane:
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\i
	eor r0, 2+\i
	std Z+\i, r0
	.endr
	adiw r30, 40
	dec r18
	brne .Llane
	mov r21, r20
	subi r20, -8
	subi r22, -8
	cpi r22, 40
	brne 1f
	clr r22
1:	cpi r20, 40
	breq 2f
	rjmp .Lcolumn
2:

	/* Rho and pi: a lane is turned and changes places with the one that is where it goes. */
	movw r30, STATE
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd 2+\i, Z+8+\i
	.endr
	ldi r24, lo8(ws_keccak_walk)
	ldi r25, hi8(ws_keccak_walk)
.Lwalk:
	movw r30, r24
	lpm r18, Z+
	lpm r19, Z+
	movw r24, r30
	mov r20, r19
	andi r20, 7
.Lbits:
	dec r20
	brmi .Lbytes
	turn_left 1, r2, r3, r4, r5, r6, r7, r8, r9
	rjmp .Lbits
.Lbytes:
	subi r19, 8
	brmi .Lturned
	mov r0, r9
	mov r9, r8
	mov r8, r7
	mov r7, r6
	mov r6, r5
	mov r5, r4
	mov r4, r3
	mov r3, r2
	mov r2, r0
	rjmp .Lbytes
.Lturned:
	at STATE, r18
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd r0, Z+\i
	std Z+\i, 2+\i
	mov 2+\i, r0
	.endr
	cpi r24, lo8(.Lend_of_walk)
	brne .Lwalk

	chi_rows

	/* Iota. */
	ldi r30, lo8(ws_keccak_round_constants)
	ldi r31, hi8(ws_keccak_round_constants)
	add r30, r23
	adc r31, r1
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
	subi r23, -4
	cpi r23, 96
	breq 1f
	rjmp .Lround
1:
	ldi r18, FRAME_SIZE
2:	st Y+, r1
	dec r18
	brne 2b
	sbiw r28, 1
	FRAME_LEAVE
	.size ws_keccak_permute, . - ws_keccak_permute
