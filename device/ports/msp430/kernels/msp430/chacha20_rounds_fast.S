; The 20 rounds of ChaCha20 for MSP430 (RFC 8439 section 2.3): chacha20_rounds.h's function, the
; fast variant.
;
; Cycles from the call to the return inclusive: 7547 on CPUX. Stack with the return address: 18
; bytes, with the caller's registers. Flash: 1278 bytes.
;
; Constant flow: no instruction or address depends on the state. Interrupts may come anywhere.
;
; The idea. The state stays in memory, and a quarter round has its four words in registers. A
; rotation by 16 bits is a choice of registers; by 12 it is one of 16 and four bits back, by 8 an
; exchange of bytes, by 7 that and one bit back.

; Low and high half.
#define A0 r4
#define A1 r5
#define B0 r6
#define B1 r7
#define C0 r8
#define C1 r9
#define D0 r10
#define D1 r11
#define T r13

	.macro load low, high, word
	mov.w	4 * \word(r12), \low
	mov.w	4 * \word + 2(r12), \high
	.endm

	.macro store low, high, word
	mov.w	\low, 4 * \word(r12)
	mov.w	\high, 4 * \word + 2(r12)
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
	xor.w	\b1, T
	mov.b	T, T
	xor.w	T, \b0
	xor.w	T, \b1
	.endm

; RFC 8439, section 2.1, of the words a to d. After its first rotation d has its halves exchanged;
; so has b after its first, and after its second again.
	.macro quarter_round a, b, c, d
	load	A0, A1, \a
	load	B0, B1, \b
	load	C0, C1, \c
	load	D0, D1, \d
	add.w	B0, A0
	addc.w	B1, A1
	xor.w	A0, D0
	xor.w	A1, D1
	add.w	D1, C0
	addc.w	D0, C1
	xor.w	C0, B0
	xor.w	C1, B1
	right	B1, B0
	right	B1, B0
	right	B1, B0
	right	B1, B0
	add.w	B1, A0
	addc.w	B0, A1
	store	A0, A1, \a
	xor.w	A0, D1
	xor.w	A1, D0
	left_byte D1, D0
	store	D1, D0, \d
	add.w	D1, C0
	addc.w	D0, C1
	store	C0, C1, \c
	xor.w	C0, B1
	xor.w	C1, B0
	left_byte B1, B0
	right	B1, B0
	store	B1, B0, \b
	.endm

	.section .text.ws_chacha20_rounds, "ax", @progbits
	.globl	ws_chacha20_rounds
	.type	ws_chacha20_rounds, @function
ws_chacha20_rounds:
	push	r4
	push	r5
	push	r6
	push	r7
	push	r8
	push	r9
	push	r10
	push	r11
	mov.w	#10, r14
1:	quarter_round 0, 4, 8, 12
	quarter_round 1, 5, 9, 13
	quarter_round 2, 6, 10, 14
	quarter_round 3, 7, 11, 15
	quarter_round 0, 5, 10, 15
	quarter_round 1, 6, 11, 12
	quarter_round 2, 7, 8, 13
	quarter_round 3, 4, 9, 14
	dec.w	r14
	jz	2f
	br	#1b
2:	pop	r11
	pop	r10
	pop	r9
	pop	r8
	pop	r7
	pop	r6
	pop	r5
	pop	r4
	ret
	.size	ws_chacha20_rounds, . - ws_chacha20_rounds
