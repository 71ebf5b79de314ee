/*
 * GHASH for AVR (NIST SP 800-38D section 6.4), the fast variant.
 *
 * Cycles from the call instruction to the return inclusive: 167 and 5244 a block.
 * Stack with the return address: 54 bytes. Flash: 2630 bytes, no tables.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. There are no tables. The frame on the stack, which holds products of
 * secrets, is wiped.
 *
 * The stack pointer moves by push, pop, call, return and the sequence of avr-gcc
 * (interrupts off between its two halves), and r1 is cleared before returning, so
 * interrupts may stay enabled.
 *
 * The idea. GCM writes polynomials with the lowest degree in the top bit of byte
 * 0, so multiplying by x is a shift right from each byte into the next, and no bit
 * is ever reversed. Karatsuba, twice, makes a product of 128 bits by 128 from nine
 * of 32 by 32 bits, each held in registers: bits of y are taken from all its bytes
 * at once, from the bottom up; each becomes a mask for h, which is added at the
 * byte's place (a place is a choice of registers, so it costs nothing); and the
 * product is multiplied by x between the eight steps. With words of 32 bits
 * y0..y3, h0..h3 and X = x^32:
 *     low    = y0 h0 (1 + X) + y1 h1 (X + X^2) + (y0 + y1)(h0 + h1) X
 *     high   = the same of y2, y3, h2, h3
 *     middle = the same of y0 + y2, y1 + y3, h0 + h2, h1 + h3
 *     y h    = low (1 + X^2) + high (X^2 + X^4) + middle X^2
 * Then x^128 = 1 + x + x^2 + x^7.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e
#define SREG_IO 0x3f

#define Y_POINTER r24
#define H_POINTER r22
#define BLOCKS_LOW r18
#define BLOCKS_HIGH r19

/* The product, lowest degree first; also a word of scratch where it is free. */
#define P0 r2
#define P1 r3
#define P2 r4
#define P3 r5
#define P4 r6
#define P5 r7
#define P6 r8
#define P7 r9
/* The factors: h stays as it is, y ends as 0. */
#define H0 r10
#define H1 r11
#define H2 r12
#define H3 r13
#define Y0 r14
#define Y1 r15
#define Y2 r16
#define Y3 r17
/* Scratch. */
#define T0 r20
#define T1 r21
#define MASK r0
#define S r1

/* MASK = all ones if the lowest bit of y is set, else 0; y moves on. */
.macro TAKE_BIT y
	lsr \y
	sbc MASK, MASK
.endm

/* p += h & MASK. 11 cycles. */
.macro ADD_MASKED p0, p1, p2, p3
	movw T0, H0
	and T0, MASK
	and T1, MASK
	eor \p0, T0
	eor \p1, T1
	movw T0, H2
	and T0, MASK
	and T1, MASK
	eor \p2, T0
	eor \p3, T1
.endm

/* The same where p3 is still empty. */
.macro BEGIN_MASKED p0, p1, p2, p3
	movw T0, H0
	and T0, MASK
	and T1, MASK
	eor \p0, T0
	eor \p1, T1
	mov T0, H2
	and T0, MASK
	eor \p2, T0
	mov \p3, H3
	and \p3, MASK
.endm

/* P = y h, 32 bits each. Clobbers Y0..Y3 (0 at the end), T0, T1, MASK. */
	.section .text.ws_ghash_multiply, "ax", @progbits
	.type ws_ghash_multiply, @function
ws_ghash_multiply:
	TAKE_BIT Y0
	movw P0, H0
	and P0, MASK
	and P1, MASK
	movw P2, H2
	and P2, MASK
	and P3, MASK
	TAKE_BIT Y1
	BEGIN_MASKED P1, P2, P3, P4
	TAKE_BIT Y2
	BEGIN_MASKED P2, P3, P4, P5
	TAKE_BIT Y3
	BEGIN_MASKED P3, P4, P5, P6
	clr P7
	.rept 7
	lsr P0
	ror P1
	ror P2
	ror P3
	ror P4
	ror P5
	ror P6
	ror P7
	TAKE_BIT Y0
	ADD_MASKED P0, P1, P2, P3
	TAKE_BIT Y1
	ADD_MASKED P1, P2, P3, P4
	TAKE_BIT Y2
	ADD_MASKED P2, P3, P4, P5
	TAKE_BIT Y3
	ADD_MASKED P3, P4, P5, P6
	.endr
	ret
	.size ws_ghash_multiply, . - ws_ghash_multiply

/* Factors from memory at Z: word n, and plus word n. */
.macro LOAD_WORD f0, f1, f2, f3, n
	ldd \f0, Z+4*\n
	ldd \f1, Z+4*\n+1
	ldd \f2, Z+4*\n+2
	ldd \f3, Z+4*\n+3
.endm

.macro PLUS_WORD f0, f1, f2, f3, n
	ldd S, Z+4*\n
	eor \f0, S
	ldd S, Z+4*\n+1
	eor \f1, S
	ldd S, Z+4*\n+2
	eor \f2, S
	ldd S, Z+4*\n+3
	eor \f3, S
.endm

.macro FRAME_STORE n, p0, p1, p2, p3
	std Y+4*\n+1, \p0
	std Y+4*\n+2, \p1
	std Y+4*\n+3, \p2
	std Y+4*\n+4, \p3
.endm

.macro FRAME_LOAD n, p0, p1, p2, p3
	ldd \p0, Y+4*\n+1
	ldd \p1, Y+4*\n+2
	ldd \p2, Y+4*\n+3
	ldd \p3, Y+4*\n+4
.endm

/* Word n of the frame += p. 20 cycles. */
.macro FRAME_ADD n, p0, p1, p2, p3
	ldd S, Y+4*\n+1
	eor S, \p0
	std Y+4*\n+1, S
	ldd S, Y+4*\n+2
	eor S, \p1
	std Y+4*\n+2, S
	ldd S, Y+4*\n+3
	eor S, \p2
	std Y+4*\n+3, S
	ldd S, Y+4*\n+4
	eor S, \p3
	std Y+4*\n+4, S
.endm

.macro ADD_WORD p0, p1, p2, p3, q0, q1, q2, q3
	eor \p0, \q0
	eor \p1, \q1
	eor \p2, \q2
	eor \p3, \q3
.endm

/* 64 by 64 bits: words n, n+1 of y and of h into words 2n..2n+3 of the frame. */
.macro MULTIPLY_HALF n
	movw r30, H_POINTER
	LOAD_WORD H0, H1, H2, H3, \n
	movw r30, Y_POINTER
	LOAD_WORD Y0, Y1, Y2, Y3, \n
	rcall ws_ghash_multiply
	FRAME_STORE (2*\n), P0, P1, P2, P3
	FRAME_STORE (2*\n+2), P4, P5, P6, P7
	ADD_WORD P0, P1, P2, P3, P4, P5, P6, P7
	FRAME_STORE (2*\n+1), P0, P1, P2, P3

	LOAD_WORD Y0, Y1, Y2, Y3, (\n+1)
	movw r30, H_POINTER
	LOAD_WORD H0, H1, H2, H3, (\n+1)
	rcall ws_ghash_multiply
	FRAME_STORE (2*\n+3), P4, P5, P6, P7
	FRAME_ADD (2*\n+1), P0, P1, P2, P3
	ADD_WORD P0, P1, P2, P3, P4, P5, P6, P7
	FRAME_ADD (2*\n+2), P0, P1, P2, P3

	PLUS_WORD H0, H1, H2, H3, \n
	movw r30, Y_POINTER
	LOAD_WORD Y0, Y1, Y2, Y3, \n
	PLUS_WORD Y0, Y1, Y2, Y3, (\n+1)
	rcall ws_ghash_multiply
	FRAME_ADD (2*\n+1), P0, P1, P2, P3
	FRAME_ADD (2*\n+2), P4, P5, P6, P7
.endm

/* Words 2+n and 4+n of low and high, which lie in words 0..3 and 4..7 of the
 * frame, become those of low (1 + X^2) + high (X^2 + X^4). 60 cycles. */
.macro JOIN_HALVES n
	FRAME_LOAD (2+\n), P0, P1, P2, P3
	FRAME_LOAD (4+\n), P4, P5, P6, P7
	ADD_WORD P0, P1, P2, P3, P4, P5, P6, P7
	FRAME_LOAD \n, P4, P5, P6, P7
	ADD_WORD P4, P5, P6, P7, P0, P1, P2, P3
	FRAME_STORE (2+\n), P4, P5, P6, P7
	FRAME_LOAD (6+\n), P4, P5, P6, P7
	ADD_WORD P4, P5, P6, P7, P0, P1, P2, P3
	FRAME_STORE (4+\n), P4, P5, P6, P7
.endm

/*
 * Byte 16+n, P0, is P0 x^(8n) (1 + x + x^2 + x^7): into byte n what is shifted right
 * by 0, 1, 2 and 7, into byte n+1 what falls out there. Downwards, because byte
 * 15+1, then in P5, is one of those still to be reduced. byte becomes byte n; next
 * is byte n+1, and done with. P3 is 0x80, P4 0x40, T0 2. 17 cycles.
 */
.macro REDUCE_BYTE n, byte, next
	ldd P0, Y+16+\n+1
.if \n == 0
	eor P0, P5
.endif
	ldd \byte, Y+\n+1
	eor \byte, P0
	mul P0, P3
	eor \byte, r1
	eor \next, r0
	mul P0, P4
	eor \byte, r1
	eor \next, r0
	mul P0, T0
	eor \byte, r1
	eor \next, r0
.endm

/*
 * void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data,
 *                      size_t blocks)
 *
 * in:  r25:r24 y, r23:r22 h, r21:r20 data, r19:r18 blocks, 0 allowed
 * Clobbers r0, r18-r27, r30, r31.
 */
	.section .text.ws_ghash_blocks, "ax", @progbits
	.global ws_ghash_blocks
	.type ws_ghash_blocks, @function
ws_ghash_blocks:
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push r\n
	.endr
	in r28, SPL_IO
	in r29, SPH_IO
	sbiw r28, 32		; the double-length product, at Y+1
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	movw r26, r20		; X = data

1:	subi BLOCKS_LOW, 1
	sbci BLOCKS_HIGH, 0
	brcc 2f
	rjmp 3f

2:	movw r30, Y_POINTER
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	ld T0, X+
	ldd S, Z+\n
	eor S, T0
	std Z+\n, S
	.endr

	MULTIPLY_HALF 0
	MULTIPLY_HALF 2
	JOIN_HALVES 0
	JOIN_HALVES 1

	movw r30, H_POINTER
	LOAD_WORD H0, H1, H2, H3, 0
	PLUS_WORD H0, H1, H2, H3, 2
	movw r30, Y_POINTER
	LOAD_WORD Y0, Y1, Y2, Y3, 0
	PLUS_WORD Y0, Y1, Y2, Y3, 2
	rcall ws_ghash_multiply
	FRAME_ADD 2, P0, P1, P2, P3
	FRAME_ADD 4, P4, P5, P6, P7
	ADD_WORD P0, P1, P2, P3, P4, P5, P6, P7
	FRAME_ADD 3, P0, P1, P2, P3

	LOAD_WORD Y0, Y1, Y2, Y3, 1
	PLUS_WORD Y0, Y1, Y2, Y3, 3
	movw r30, H_POINTER
	LOAD_WORD H0, H1, H2, H3, 1
	PLUS_WORD H0, H1, H2, H3, 3
	rcall ws_ghash_multiply
	FRAME_ADD 3, P0, P1, P2, P3
	FRAME_ADD 5, P4, P5, P6, P7
	ADD_WORD P0, P1, P2, P3, P4, P5, P6, P7
	FRAME_ADD 4, P0, P1, P2, P3

	PLUS_WORD H0, H1, H2, H3, 0
	PLUS_WORD H0, H1, H2, H3, 2
	movw r30, Y_POINTER
	LOAD_WORD Y0, Y1, Y2, Y3, 0
	PLUS_WORD Y0, Y1, Y2, Y3, 1
	PLUS_WORD Y0, Y1, Y2, Y3, 2
	PLUS_WORD Y0, Y1, Y2, Y3, 3
	rcall ws_ghash_multiply
	FRAME_ADD 3, P0, P1, P2, P3
	FRAME_ADD 4, P4, P5, P6, P7

	ldi T0, 0x80		; times T0 is one bit to the right, in r1:r0
	mov P3, T0
	ldi T0, 0x40
	mov P4, T0
	ldi T0, 2
	clr P2
	movw r30, Y_POINTER
	REDUCE_BYTE 15, P1, P2
	mov P5, P2
	REDUCE_BYTE 14, P2, P1
	std Z+15, P1
	.irp n, 13, 11, 9, 7, 5, 3, 1
	REDUCE_BYTE \n, P1, P2
	std Z+\n+1, P2
	REDUCE_BYTE \n-1, P2, P1
	std Z+\n, P1
	.endr
	st Z, P2
	rjmp 1b

3:	clr r1
	.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	std Y+\n, r1
	std Y+16+\n, r1
	.endr
	adiw r28, 32
	in r0, SREG_IO
	cli
	out SPH_IO, r29
	out SREG_IO, r0
	out SPL_IO, r28
	.irp n, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop r\n
	.endr
	ret
	.size ws_ghash_blocks, . - ws_ghash_blocks
