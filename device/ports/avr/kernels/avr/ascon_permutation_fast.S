/*
 * Ascon-p for AVR (NIST SP 800-232 section 3), the fast variant.
 *
 * in:  r24:r25 state, r22 rounds.
 * Cycles from the call instruction to the return inclusive: 149 and 614 a round.
 * Stack with the return address: 23 bytes. Flash: 1204 bytes.
 * Clobbers: r0, r18 to r27, r30, r31; r1 is 0 again at the end.
 *
 * Constant flow: the instructions and addresses depend on the number of rounds alone. The stack pointer moves by push and
 * pop, so interrupts may stay enabled. Below it stay two bytes of S4 and the round constant; registers are the caller's to clear.
 *
 * The idea. S2 and S4 stay in registers, because the S-box leaves them where they were, and S3 from the S-box to its
 * linear layer. The S-box, section 3.3, in 22 instructions a byte: with the constant added and x0 ^= x4, x4 ^= x3, x2 ^= x1, it is
 *
 *     x0 = ((x0 ^ x2) | x1) ^ x4    x1 = ((x1 ^ x3) | x2) ^ x0    x2 = (~x4 | x3) ^ x2
 *     x3 = ((x0 ^ x3) | x4) ^ x2    x4 = (~x0 & x1) ^ x4
 *
 * where the right sides are all of before. In the linear layer, section 3.4, turning by bytes is a choice of registers, and of a
 * copy that is turned by the few bits of the one offset, those of the other are a few more.
 */

/* S2 and S4, byte by byte, and S3 or the word whose linear layer it is. */
#define X2(i) (2 + (i))
#define X4(i) (10 + (i))
#define WORD(i) (18 + (i))

/* The S-box on byte i of all words. Scratch: r0, r1, r26 to r29. */
	.macro substitute i
	ldd r26, Z+\i
	ldd r27, Z+8+\i
	ldd r28, Z+24+\i
	eor r26, X4(\i)
	eor X4(\i), r28
	eor X2(\i), r27
	mov r29, r26
	eor r29, X2(\i)
	or r29, r27
	eor r29, X4(\i)
	std Z+\i, r29
	mov r0, r27
	eor r0, r28
	or r0, X2(\i)
	eor r0, r26
	std Z+8+\i, r0
	mov WORD(\i), r26
	eor WORD(\i), r28
	or WORD(\i), X4(\i)
	eor WORD(\i), X2(\i)
	mov r1, X4(\i)
	com r1
	or r1, r28
	eor X2(\i), r1
	com r26
	and r26, r27
	eor X4(\i), r26
	.endm

/* A word of eight registers turned by one bit. */
	.macro turn_right c0, c1, c2, c3, c4, c5, c6, c7
	bst \c0, 0
	lsr \c7
	ror \c6
	ror \c5
	ror \c4
	ror \c3
	ror \c2
	ror \c1
	ror \c0
	bld \c7, 7
	.endm

	.macro turn_left c0, c1, c2, c3, c4, c5, c6, c7
	bst \c7, 7
	lsl \c0
	rol \c1
	rol \c2
	rol \c3
	rol \c4
	rol \c5
	rol \c6
	rol \c7
	bld \c0, 0
	.endm

/* XORs c, turned right by 8 n bits more, into the word that begins at register w; n is given by the order of c. */
	.macro add w, c0, c1, c2, c3, c4, c5, c6, c7
	eor \w, \c0
	eor \w + 1, \c1
	eor \w + 2, \c2
	eor \w + 3, \c3
	eor \w + 4, \c4
	eor \w + 5, \c5
	eor \w + 6, \c6
	eor \w + 7, \c7
	.endm

/* The copy of a word that is in WORD, and of one that is in X2 or X4. */
#define COPY r0, r1, r26, r27, r28, r29, r16, r17
#define COPY_1 r1, r26, r27, r28, r29, r16, r17, r0
#define COPY_2 r26, r27, r28, r29, r16, r17, r0, r1
#define COPY_3 r27, r28, r29, r16, r17, r0, r1, r26
#define COPY_5 r29, r16, r17, r0, r1, r26, r27, r28
#define OTHER r18, r19, r20, r21, r22, r23, r24, r25
#define OTHER_1 r19, r20, r21, r22, r23, r24, r25, r18
#define OTHER_5 r23, r24, r25, r18, r19, r20, r21, r22

	.macro copy
	movw r0, r18
	movw r26, r20
	movw r28, r22
	movw r16, r24
	.endm

	.macro copy_of w
	movw r18, \w
	movw r20, \w + 2
	movw r22, \w + 4
	movw r24, \w + 6
	.endm

	.macro load at
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd WORD(\i), Z+\at+\i
	.endr
	.endm

	.macro store at
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	std Z+\at+\i, WORD(\i)
	.endr
	.endm

	.section .text.ws_ascon_permute, "ax", @progbits
	.global ws_ascon_permute
	.type ws_ascon_permute, @function
ws_ascon_permute:
	.irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push \i
	.endr
	movw r30, r24
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	ldd X2(\i), Z+16+\i
	ldd X4(\i), Z+32+\i
	.endr
	/* The first constant, 0x3c + 15 rounds. */
	mov r26, r22
	swap r26
	sub r26, r22
	subi r26, -0x3c

.Lround:
	eor X2(0), r26
	push r26
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	substitute \i
	.endr

	push r16
	push r17
	/* S3: 10 and 17. */
	copy
	turn_right COPY
	add 18, COPY_2
	turn_right COPY
	add 18, COPY_1
	store 24
	/* S0: 19 and 28. */
	load 0
	copy
	turn_right COPY
	turn_right COPY
	turn_right COPY
	add 18, COPY_2
	turn_right COPY
	add 18, COPY_3
	store 0
	/* S1: 39 and 61, which are 1 and 3 to the left. */
	load 8
	copy
	turn_left COPY
	add 18, COPY_5
	turn_left COPY
	turn_left COPY
	add 18, COPY
	store 8
	pop r17
	pop r16
	/* S2: 1 and 6, which is 2 to the left. */
	copy_of 2
	turn_right OTHER
	add 2, OTHER
	turn_left OTHER
	turn_left OTHER
	turn_left OTHER
	add 2, OTHER_1
	/* S4: 7, which is 1 to the left, and 41. */
	copy_of 10
	turn_left OTHER
	add 10, OTHER_1
	turn_right OTHER
	turn_right OTHER
	add 10, OTHER_5

	pop r26
	subi r26, 15
	cpi r26, 0x3c
	breq 1f
	rjmp .Lround
1:
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	std Z+16+\i, X2(\i)
	std Z+32+\i, X4(\i)
	.endr
	clr r1
	.irp i, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop \i
	.endr
	ret
	.size ws_ascon_permute, . - ws_ascon_permute
