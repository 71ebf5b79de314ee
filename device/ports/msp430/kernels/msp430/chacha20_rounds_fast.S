; The 20 rounds of ChaCha20 for MSP430 (RFC 8439 section 2.3): chacha20_rounds.h's function, the
; fast variant. CPUX: PUSHM and POPM.
;
; Cycles from the call to the return inclusive: 6329. Stack with the return address: 134 bytes.
; Flash: 2134 bytes.
;
; Constant flow: no instruction or address depends on the state. Interrupts may come anywhere.
; Copies of the state on the stack are wiped.
;
; The idea. A quarter round has its four words in registers. The words wait on the stack twice: in
; the order in which the diagonals read them, and in that of the columns. Diagonals pop their words,
; columns read them with @Rn+, and all write where the round after them reads. The first columns are
; read from the state, and the last diagonals are written there. Word 0 stays in registers. The last
; column and the first diagonal have word 15 both, and the last diagonal and the first column have
; word 4: these stay, too. A rotation by 16 bits is a choice of registers; by 12 it is one of 16 and
; four bits back, by 8 an exchange of bytes, by 7 that and one bit back.

; Low and high half.
#define A0 r4
#define A1 r5
#define B0 r6
#define B1 r7
#define C0 r8
#define C1 r9
#define D0 r10
#define D1 r11
#define T r12
#define NEXT r13
#define WORD0_LOW r14
#define WORD0_HIGH r15

; The frame, from r1: fourteen words in the order of the diagonals, fourteen in that of the columns,
; the address of what comes out, and the pairs of rounds that are left.
	.equ	COLUMNS, 56
	.equ	OUT, 112
	.equ	LEFT, 114
	.equ	FRAME, 116

; Where a word waits for its diagonal, and for its column: the latter from COLUMNS on.
	.set	place, 0
	.irp	word, 5, 10, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14
	.equ	diagonal_\word, place
	.set	place, place + 4
	.endr
	.irp	word, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
	.equ	column_\word, place
	.set	place, place + 4
	.endr

; clang's assembler knows none of these.
	.macro push_r4_to_r11		; PUSHM.W #8, R11
	.short	0x157b
	.endm
	.macro pop_r4_to_r11		; POPM.W #8, R11
	.short	0x1774
	.endm
	.macro pop_b_and_c		; POPM.W #4, R9
	.short	0x1736
	.endm

	.macro next low, high
	mov.w	@NEXT+, \low
	mov.w	@NEXT+, \high
	.endm

	.macro from_state low, high, word
	mov.w	4 * \word(NEXT), \low
	mov.w	4 * \word + 2(NEXT), \high
	.endm

	.macro to low, high, place
	mov.w	\low, \place(r1)
	mov.w	\high, \place + 2(r1)
	.endm

	.macro to_state low, high, word
	mov.w	\low, 4 * \word(T)
	mov.w	\high, 4 * \word + 2(T)
	.endm

; (b1, b0) rotated right by a bit.
	.macro right b0, b1
	bit.w	#1, \b0
	rrc.w	\b1
	rrc.w	\b0
	.endm

; (b1, b0) rotated by 8 bits to the left.
	.macro left_byte b0, b1
	swpb	\b0
	swpb	\b1
	mov.w	\b0, T
	xor.b	\b1, T
	xor.w	T, \b0
	xor.w	T, \b1
	.endm

; RFC 8439, section 2.1: 43 cycles. b and d have their halves exchanged afterwards. d has them so
; after its first rotation, too; b after its first, and after its second again.
	.macro quarter_round a0, a1, b0, b1, c0, c1, d0, d1
	add.w	\b0, \a0
	addc.w	\b1, \a1
	xor.w	\a0, \d0
	xor.w	\a1, \d1
	add.w	\d1, \c0
	addc.w	\d0, \c1
	xor.w	\c0, \b0
	xor.w	\c1, \b1
	right	\b1, \b0
	right	\b1, \b0
	right	\b1, \b0
	right	\b1, \b0
	add.w	\b1, \a0
	addc.w	\b0, \a1
	xor.w	\a0, \d1
	xor.w	\a1, \d0
	left_byte \d1, \d0
	add.w	\d1, \c0
	addc.w	\d0, \c1
	xor.w	\c0, \b1
	xor.w	\c1, \b0
	left_byte \b1, \b0
	right	\b1, \b0
	.endm

; A column and its results, all on their way to the diagonals.
	.macro column a, b, c, d
	quarter_round A0, A1, B0, B1, C0, C1, D0, D1
	to	A0, A1, diagonal_\a
	to	B1, B0, diagonal_\b
	to	C0, C1, diagonal_\c
	.ifnc	\d, 15
	to	D1, D0, diagonal_\d
	.endif
	.endm

; Column 0, with word 4 in (B0, B1).
	.macro column_0
	quarter_round WORD0_LOW, WORD0_HIGH, B1, B0, C0, C1, D0, D1
	to	B0, B1, diagonal_4
	to	C0, C1, diagonal_8
	to	D1, D0, diagonal_12
	.endm

	.macro next_words
	next	A0, A1
	next	B0, B1
	next	C0, C1
	next	D0, D1
	.endm

; The four diagonals; the first with word 15 in (D0, D1). `store` takes a word's halves and number.
; They pop their words, which are not read again: r1 goes on by `popped` bytes.
	.macro diagonals store
	pop_b_and_c
	.set	popped, 8
	quarter_round WORD0_LOW, WORD0_HIGH, B0, B1, C0, C1, D1, D0
	\store	5, B1, B0, first
	\store	10, C0, C1
	\store	15, D0, D1
	pop_r4_to_r11
	.set	popped, 24
	quarter_round A0, A1, B0, B1, C0, C1, D0, D1
	\store	1, A0, A1, first
	\store	6, B1, B0
	\store	11, C0, C1
	\store	12, D1, D0
	pop_r4_to_r11
	.set	popped, 40
	quarter_round A0, A1, B0, B1, C0, C1, D0, D1
	\store	2, A0, A1, first
	\store	7, B1, B0
	\store	8, C0, C1
	\store	13, D1, D0
	pop_r4_to_r11
	.set	popped, 56
	quarter_round A0, A1, B0, B1, C0, C1, D0, D1
	\store	3, A0, A1, first
	\store	9, C0, C1
	\store	14, D1, D0
	.endm
	.macro to_column word, low, high, first
	to	\low, \high, column_\word - popped
	.endm
; T is the quarter round's before.
	.macro back_to_state word, low, high, first
	.ifc	\first, first
	mov.w	OUT - popped(r1), T
	.endif
	to_state \low, \high, \word
	.endm

	.section .text.ws_chacha20_rounds, "ax", @progbits
	.globl	ws_chacha20_rounds
	.type	ws_chacha20_rounds, @function
ws_chacha20_rounds:
	mov.w	r12, r13

; void ws_chacha20_rounds_to(const uint32_t state[16], uint32_t out[16])
; in: r12 state, r13 out, which may be the state; clobbers: r12 to r15.
	.globl	ws_chacha20_rounds_to
	.type	ws_chacha20_rounds_to, @function
ws_chacha20_rounds_to:
	push_r4_to_r11
	sub.w	#FRAME, r1
	mov.w	r13, OUT(r1)
	mov.w	#9, LEFT(r1)
	mov.w	r12, NEXT
	from_state WORD0_LOW, WORD0_HIGH, 0
	from_state B1, B0, 4
	from_state C0, C1, 8
	from_state D0, D1, 12
	column_0
	.irp	i, 1, 2, 3
	from_state A0, A1, (0 + \i)
	from_state B0, B1, (4 + \i)
	from_state C0, C1, (8 + \i)
	from_state D0, D1, (12 + \i)
	.if	\i == 1
	column	1, 5, 9, 13
	.elseif	\i == 2
	column	2, 6, 10, 14
	.else
	column	3, 7, 11, 15
	.endif
	.endr
1:	diagonals to_column
	mov.w	r1, NEXT
	sub.w	#COLUMNS, r1
	next	C0, C1
	next	D0, D1
	column_0
	next_words
	column	1, 5, 9, 13
	next_words
	column	2, 6, 10, 14
	next_words
	column	3, 7, 11, 15
	dec.w	LEFT(r1)
	jz	2f
	br	#1b
2:	diagonals back_to_state
	to_state B1, B0, 4
	to_state WORD0_LOW, WORD0_HIGH, 0
	; The words on the stack.
	add.w	#OUT - COLUMNS, r1
	.irp	word, r4, r5, r6, r7, r8, r9, r10, r11
	clr.w	\word
	.endr
	.rept	7
	push_r4_to_r11
	.endr
	add.w	#FRAME, r1
	pop_r4_to_r11
	ret
	.size	ws_chacha20_rounds, . - ws_chacha20_rounds
	.size	ws_chacha20_rounds_to, . - ws_chacha20_rounds_to
