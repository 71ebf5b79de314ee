/*
 * The 20 rounds of ChaCha20 for AVR (RFC 8439 section 2.3), the fast variant.
 *
 * Cycles from the call instruction to the return inclusive: 9403. Stack with the
 * return address: 20 bytes. Flash: 1368 bytes.
 *
 * Constant flow: no instruction or address depends on the state. r1 is 0 again at
 * the return; interrupts may stay enabled.
 *
 * The idea. The state stays in memory, and a quarter round has its four words in
 * registers. Rotations by bytes are a choice of registers. By 12 bits: four products
 * by 16, and a byte; by 7 bits: a byte, and one bit back.
 */

.set A, 2
.set B, 6
.set C, 10
.set D, 14
/* b after its first rotation. */
.set T, 18
#define SIXTEEN r22

.macro load word, at
	.irp i, 0, 1, 2, 3
	ldd \word + \i, Y + 4 * \at + \i
	.endr
.endm

/* Stores a word whose byte i is in the register \word + (i + first) mod 4. */
.macro store word, first, at
	.irp i, 0, 1, 2, 3
	std Y + 4 * \at + \i, \word + ((\i + \first) & 3)
	.endr
.endm

/* to += from, to ^= from, where \from's byte i is in the register \from + (i + first) mod 4. */
.macro add_word to, from, first
	add \to, \from + (\first & 3)
	.irp i, 1, 2, 3
	adc \to + \i, \from + ((\i + \first) & 3)
	.endr
.endm
.macro mix to, first, from
	.irp i, 0, 1, 2, 3
	eor \to + ((\i + \first) & 3), \from + \i
	.endr
.endm

/* RFC 8439, section 2.1, of the words a to d. */
.macro quarter_round a, b, c, d
	load A, \a
	load B, \b
	load C, \c
	load D, \d
	add_word A, B, 0
	mix D, 0, A
	add_word C, D, 2
	mix B, 0, C
	mul B, SIXTEEN
	movw T, r0
	mul B + 2, SIXTEEN
	movw T + 2, r0
	mul B + 1, SIXTEEN
	eor T + 1, r0
	eor T + 2, r1
	mul B + 3, SIXTEEN
	eor T + 3, r0
	eor T, r1
	add_word A, T, 3
	mix D, 2, A
	add_word C, D, 1
	mix T, 3, C
	bst T + 2, 0
	lsr T + 1
	ror T
	ror T + 3
	ror T + 2
	bld T + 1, 7
	store A, 0, \a
	store T, 2, \b
	store C, 0, \c
	store D, 1, \d
.endm

	.section .text.ws_chacha20_rounds, "ax", @progbits
	.globl ws_chacha20_rounds
	.type ws_chacha20_rounds, @function
ws_chacha20_rounds:
	.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push r\n
	.endr
	movw r28, r24
	ldi SIXTEEN, 16
	ldi r23, 10
1:	quarter_round 0, 4, 8, 12
	quarter_round 1, 5, 9, 13
	quarter_round 2, 6, 10, 14
	quarter_round 3, 7, 11, 15
	quarter_round 0, 5, 10, 15
	quarter_round 1, 6, 11, 12
	quarter_round 2, 7, 8, 13
	quarter_round 3, 4, 9, 14
	dec r23
	breq 2f
	rjmp 1b
2:	clr r1
	.irp n, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop r\n
	.endr
	ret
	.size ws_chacha20_rounds, . - ws_chacha20_rounds
