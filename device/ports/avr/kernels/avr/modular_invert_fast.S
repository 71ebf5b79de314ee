/*
 * Inverses modulo an odd number for AVR with MUL, the fast variant: ws_modular_invert,
 * whose contract is modular.h's.
 *
 * Cycles from the call instruction to the return inclusive: 279855 for a modulus of 256
 * bits in 32 bytes, 144535 for one of 161 in 24, 127651 for one of 160 in 20. Stack with
 * the return address: 212 bytes. Flash: 1072 bytes. As the
 * small variant: 13 cycles more, 986 bytes and what frames.inc says.
 *
 * Constant flow: the instructions and addresses depend on the size of the modulus alone.
 * The frame on the stack is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is 0 on return, so interrupts may
 * stay enabled.
 *
 * The idea is that of crypto/modular_invert.c: Bernstein and Yang's division steps, 14 at
 * a time on the lowest bits, whose matrix (u, v; q, r), times 2^-14, then goes to f and g,
 * and modulo the modulus m to d and e. Here long numbers are bytes with a sign, and
 * their products with a row of the matrix are formed in columns of three bytes: a row adds
 * up to 2^14 at most. What makes d and e divisible, a multiple w m, has -2^13 <= w < 2^13, so
 * that 2^14 + 2^13 times a byte fits, too. So d and e grow by m / 2 at most each time, to
 * 22 m in all: five bits, which six additions take off in the end.
 */

#include "frames.inc"

#define SPL_IO 0x3d
#define SPH_IO 0x3e

/* struct ws_modulus */
	.equ MODULUS_BYTES, 0
	.equ MODULUS_BITS, 1
	.equ MODULUS_LIMBS, 3
	.equ MODULUS_NEGATED_INVERSE, 7

/* How often 14 division steps are done: modular_invert.c has the source. */
	.equ SMALL_BITS, 161
	.equ SMALL_BATCHES, 27
	.equ LARGE_BATCHES, 43

/* The frame: zeta, which is -(delta + 1/2), 2 bytes; 2 bytes of -1 / m; how many bytes a number
 * has, with the three of its sign. f, g, d, e, m: a number has the bytes of the modulus, a byte
 * for the sign, and two in which the sign goes on; and before it there are two that a
 * pass overwrites, which writes a byte two places below the one it reads. */
	.equ STRIDE, 37
	.equ ZETA_AT, 0
	.equ INVERSE_AT, 2
	.equ BYTES_AT, 4
	.equ F, 5
	.equ G, F+STRIDE
	.equ D, G+STRIDE
	.equ E, D+STRIDE
	.equ M, E+STRIDE
	.equ FRAME, M+STRIDE

/* Registers. How often 14 steps are still to be done: */
	.equ BATCHES, 27
/* The division steps, and the matrix, 2 bytes each: */
	.equ U, 2
	.equ V, 4
	.equ Q, 6
	.equ R, 8
	.equ LOW_F, 10
	.equ LOW_G, 12
	.equ NEGATIVE, 14
	.equ ODD, 15
	.equ STEPS, 26
	.equ ZETA, 30
/* The passes: high bytes, of the matrix and of w for d and e, and the bytes that they are
 * multiplied with, in r16-r23, as MULSU wants them; low bytes where the matrix leaves room;
 * sums of three bytes, and what the last byte of each had above its low six bits. */
	.equ U_HIGH, 16
	.equ V_HIGH, 17
	.equ Q_HIGH, 18
	.equ R_HIGH, 19
	.equ FIRST, 20
	.equ SECOND, 21
	.equ WD_HIGH, 22
	.equ WE_HIGH, 23
	.equ WD, 3
	.equ WE, 5
	.equ ZERO, 7
	.equ FOUR, 9
	.equ SUM_A, 10
	.equ SUM_B, 13
	.equ ABOVE_A, 24
	.equ ABOVE_B, 25
	.equ LEFT, 26

/* to += from, with the sign that NEGATIVE is the mask of, where the mask ODD is set. */
.macro ADD_IF_ODD to, from
	movw r0, \from
	eor r0, NEGATIVE
	eor r1, NEGATIVE
	sub r0, NEGATIVE
	sbc r1, NEGATIVE
	and r0, ODD
	and r1, ODD
	add \to, r0
	adc \to+1, r1
.endm

.macro ADD_IF_NEGATIVE to, from
	movw r0, \from
	and r0, NEGATIVE
	and r1, NEGATIVE
	add \to, r0
	adc \to+1, r1
.endm

/* sum += factor times byte; high is the factor's high byte, and has its sign. */
.macro ADD_PRODUCT sum, low, high, byte
	mul \low, \byte
	add \sum, r0
	adc \sum+1, r1
	adc \sum+2, ZERO
	mulsu \high, \byte
	add \sum+1, r0
	adc \sum+2, r1
.endm

/* The low byte of sum leaves, two bits further up, where a pass writes; sum /= 256. */
.macro NEXT_BYTE sum, above, place
	mul \sum, FOUR
	or r0, \above
	mov \above, r1
	std Y+\place, r0
	mov \sum, \sum+1
	mov \sum+1, \sum+2
	lsl \sum+2
	sbc \sum+2, \sum+2
.endm

/* Sums of 0. */
.macro BEGIN_PASS
	.irp n, 0, 1, 2
	clr SUM_A+\n
	clr SUM_B+\n
	.endr
	clr ABOVE_A
	clr ABOVE_B
.endm

/* The two numbers that a pass has written, Y behind the first, get two more bytes of sign. */
.macro END_PASS
	sbiw r28, 1
	.irp n, 0, STRIDE
	ldd r0, Y+\n
	lsl r0
	sbc r0, r0
	std Y+\n+1, r0
	std Y+\n+2, r0
	.endr
.endm

/* Y = the frame plus offset. */
.macro POINT offset
	in r28, SPL_IO
	in r29, SPH_IO
	subi r28, lo8(-(\offset+1))
	sbci r29, hi8(-(\offset+1))
.endm

/* r11:r10 = the number's low 2 bytes, r21:r20, times u, plus r15:r14 times v; then w, which
 * that and -1 / m give, modulo 2^14, with a sign, in r13:r12. */
.macro FIND_W u, u_high, v, v_high
	mul \u, r20
	movw r10, r0
	mul \u, r21
	add r11, r0
	mul \u_high, r20
	add r11, r0
	mul \v, r14
	add r10, r0
	adc r11, r1
	mul \v, r15
	add r11, r0
	mul \v_high, r14
	add r11, r0
	mul r10, r24
	movw r12, r0
	mul r10, r25
	add r13, r0
	mul r11, r24
	add r13, r0
	.rept 2
	lsl r12
	rol r13
	.endr
	.rept 2
	asr r13
	ror r12
	.endr
.endm

/*
 * in:  r25:r24 r, r23:r22 a, r21:r20 m
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_modular_invert, "ax", @progbits
	.global ws_modular_invert
	.type ws_modular_invert, @function
ws_modular_invert:
	FRAME_ENTER FRAME+2
	movw r26, r28
	subi r26, lo8(-(FRAME+1))
	sbci r27, hi8(-(FRAME+1))
	st X+, r25
	st X, r24
	adiw r28, 1

	movw r26, r28
	ldi r18, FRAME
1:	st X+, r1
	dec r18
	brne 1b

	/* zeta = -1, f = m, g = a, e = 1. */
	movw r26, r22
	movw r30, r20
	ldi r18, 0xff
	std Y+ZETA_AT, r18
	std Y+ZETA_AT+1, r18
	ldd r18, Z+MODULUS_NEGATED_INVERSE
	ldd r19, Z+MODULUS_NEGATED_INVERSE+1
	std Y+INVERSE_AT, r18
	std Y+INVERSE_AT+1, r19
	ldd r20, Z+MODULUS_BITS
	ldd r21, Z+MODULUS_BITS+1
	ldd r18, Z+MODULUS_BYTES
	ldd r22, Z+MODULUS_LIMBS
	ldd r23, Z+MODULUS_LIMBS+1
	mov r19, r18
	subi r19, -3
	std Y+BYTES_AT, r19
	mov r19, r18
	movw r30, r22
	adiw r28, F+2
2:	ld r0, X+
	std Y+STRIDE, r0
	ld r0, Z+
	st Y+, r0
	dec r19
	brne 2b
	POINT M+2
	movw r30, r22
3:	ld r0, Z+
	st Y+, r0
	dec r18
	brne 3b
	POINT E+2
	ldi r18, 1
	st Y, r18
	ldi BATCHES, SMALL_BATCHES
	cpi r20, SMALL_BITS+1
	cpc r21, r1
	brcs 4f
	ldi BATCHES, LARGE_BATCHES

	/* 14 division steps. */
4:	POINT 0
	ldd ZETA, Y+ZETA_AT
	ldd ZETA+1, Y+ZETA_AT+1
	ldd LOW_F, Y+F+2
	ldd LOW_F+1, Y+F+3
	ldd LOW_G, Y+G+2
	ldd LOW_G+1, Y+G+3
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9
	clr r\n
	.endr
	inc U
	inc R
	ldi STEPS, 14
5:	mov NEGATIVE, ZETA+1
	lsl NEGATIVE
	sbc NEGATIVE, NEGATIVE
	mov ODD, LOW_G
	lsr ODD
	sbc ODD, ODD
	ADD_IF_ODD LOW_G, LOW_F
	ADD_IF_ODD Q, U
	ADD_IF_ODD R, V
	and NEGATIVE, ODD
	ADD_IF_NEGATIVE LOW_F, LOW_G
	ADD_IF_NEGATIVE U, Q
	ADD_IF_NEGATIVE V, R
	eor ZETA, NEGATIVE
	eor ZETA+1, NEGATIVE
	sbiw ZETA, 1
	lsr LOW_G+1
	ror LOW_G
	lsl U
	rol U+1
	lsl V
	rol V+1
	dec STEPS
	brne 5b

	std Y+ZETA_AT, ZETA
	std Y+ZETA_AT+1, ZETA+1
	ldd LEFT, Y+BYTES_AT
	mov U_HIGH, U+1
	mov V_HIGH, V+1
	mov Q_HIGH, Q+1
	mov R_HIGH, R+1
	clr ZERO
	ldi FIRST, 4
	mov FOUR, FIRST

	/* f and g. */
	adiw r28, F
	BEGIN_PASS
6:	ldd FIRST, Y+2
	ldd SECOND, Y+STRIDE+2
	ADD_PRODUCT SUM_A, U, U_HIGH, FIRST
	ADD_PRODUCT SUM_A, V, V_HIGH, SECOND
	ADD_PRODUCT SUM_B, Q, Q_HIGH, FIRST
	ADD_PRODUCT SUM_B, R, R_HIGH, SECOND
	NEXT_BYTE SUM_A, ABOVE_A, 0
	NEXT_BYTE SUM_B, ABOVE_B, STRIDE
	adiw r28, 1
	dec LEFT
	brne 6b
	END_PASS

	/* d and e. */
	POINT 0
	ldd LEFT, Y+BYTES_AT
	ldd r24, Y+INVERSE_AT
	ldd r25, Y+INVERSE_AT+1
	subi r28, lo8(-(D))
	sbci r29, hi8(-(D))
	ldd r20, Y+2
	ldd r21, Y+3
	ldd r14, Y+STRIDE+2
	ldd r15, Y+STRIDE+3
	FIND_W U, U_HIGH, V, V_HIGH
	mov WD, r12
	mov WD_HIGH, r13
	FIND_W Q, Q_HIGH, R, R_HIGH
	mov WE, r12
	mov WE_HIGH, r13
	movw r30, r28
	subi r30, lo8(-(M+2-D))
	sbci r31, hi8(-(M+2-D))
	BEGIN_PASS
7:	ldd FIRST, Y+2
	ldd SECOND, Y+STRIDE+2
	ADD_PRODUCT SUM_A, U, U_HIGH, FIRST
	ADD_PRODUCT SUM_A, V, V_HIGH, SECOND
	ADD_PRODUCT SUM_B, Q, Q_HIGH, FIRST
	ADD_PRODUCT SUM_B, R, R_HIGH, SECOND
	ld FIRST, Z+
	ADD_PRODUCT SUM_A, WD, WD_HIGH, FIRST
	ADD_PRODUCT SUM_B, WE, WE_HIGH, FIRST
	NEXT_BYTE SUM_A, ABOVE_A, 0
	NEXT_BYTE SUM_B, ABOVE_B, STRIDE
	adiw r28, 1
	dec LEFT
	breq 8f
	rjmp 7b
8:	END_PASS
	dec BATCHES
	breq 9f
	rjmp 4b

	/* d = -d where f is -1. r18: bytes of d with one of its sign; r20: masks. */
9:	clr r1
	POINT 0
	ldd r18, Y+BYTES_AT
	movw r30, r28
	add r30, r18
	adc r31, r1
	ldd r20, Z+F+1
	subi r18, 2
	POINT D+2
	mov r19, r18
	mov r0, r20
	lsl r0
1:	ld r0, Y
	eor r0, r20
	adc r0, r1
	st Y+, r0
	dec r19
	brne 1b

	/* 32 m, halved before each addition of it, or subtraction from d that is not negative: then
	 * d is between -m and m. */
	POINT M+2
	mov r19, r18
	ldi r21, 32
	clr r22
2:	ld r0, Y
	mul r0, r21
	or r0, r22
	mov r22, r1
	st Y+, r0
	dec r19
	brne 2b
	clr r1
	ldi r23, 5
3:	POINT D+2
	movw r26, r28
	add r26, r18
	adc r27, r1
	ld r20, -X
	lsl r20
	sbc r20, r20
	com r20
	movw r30, r28
	subi r30, lo8(-(M-D))
	sbci r31, hi8(-(M-D))
	add r30, r18
	adc r31, r1		; no carry: nothing falls out of m
	mov r19, r18
4:	ld r0, -Z
	ror r0
	st Z, r0
	dec r19
	brne 4b
	mov r19, r18
	mov r0, r20
	lsl r0
5:	ld r0, Z+
	eor r0, r20
	ld r21, Y
	adc r21, r0
	st Y+, r21
	dec r19
	brne 5b
	dec r23
	brne 3b

	/* Plus m where d is negative. */
	lsl r21
	sbc r20, r20
	POINT FRAME
	ldd r26, Y+1
	ld r27, Y
	POINT D+2
	movw r30, r28
	subi r30, lo8(-(M-D))
	sbci r31, hi8(-(M-D))
	dec r18
	clc
6:	ld r0, Z+
	and r0, r20
	ld r21, Y+
	adc r21, r0
	st X+, r21
	dec r18
	brne 6b

	POINT 0
	ldi r18, FRAME
7:	st Y+, r1
	dec r18
	brne 7b
	adiw r28, 1
	FRAME_LEAVE
	.size ws_modular_invert, . - ws_modular_invert
