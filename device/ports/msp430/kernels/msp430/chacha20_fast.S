; ChaCha20 for the MSP430: chacha20.h's ws_chacha20 (RFC 8439 section 2.4) around
; chacha20_rounds_fast.S, the fast variant. CPUX: PUSHM and POPM.
;
; Cycles from the call to the return inclusive, with 32 bytes and even addresses: 6899, of which the
; rounds take 6329. Stack with the return address: 280 bytes. Flash: 382 bytes.
;
; Constant flow: nothing depends on key or message, but on the length and whether addresses are
; even. Interrupts may come anywhere. The frame is wiped.
;
; The idea. The compiler keeps a copy of the state for the rounds, and puts each word together from
; bytes. Here the rounds read the state that they do not change, and only at odd addresses are
; there bytes.

#define KEY r12
#define NONCE r13
#define IN r4
#define OUT r5
#define LEN r6
#define N r7
#define LOW r8
#define HIGH r9
#define S r10
#define T r11

; The frame, from r1: the state before the rounds, and after them; then come eight registers, the
; return address and the arguments from the fourth on.
	.equ	COUNTER, 48
	.equ	STATE, 64
	.equ	FRAME, 128
	.equ	ARGUMENTS, FRAME + 18

; clang's assembler knows neither of these.
	.macro push_r4_to_r11		; PUSHM.W #8, R11
	.short	0x157b
	.endm
	.macro pop_r4_to_r11		; POPM.W #8, R11
	.short	0x1774
	.endm

; Two bytes at \from, which goes on. T: scratch.
	.macro load_bytes half, from
	mov.b	@\from+, \half
	mov.b	@\from+, T
	swpb	T
	bis.w	T, \half
	.endm

	.macro store_bytes half, at
	mov.b	\half, \at(OUT)
	swpb	\half
	mov.b	\half, \at + 1(OUT)
	.endm

	.section .text.ws_chacha20, "ax", @progbits
	.globl	ws_chacha20
	.type	ws_chacha20, @function
ws_chacha20:
	push_r4_to_r11
	sub.w	#FRAME, r1
	; "expand 32-byte k".
	.set	at, 0
	.irp	half, 0x7865, 0x6170, 0x646e, 0x3320, 0x2d32, 0x7962, 0x6574, 0x6b20
	mov.w	#\half, at(r1)
	.set	at, at + 2
	.endr
	mov.w	r14, COUNTER(r1)
	mov.w	r15, COUNTER + 2(r1)
	mov.w	r1, OUT
	add.w	#16, OUT
	mov.w	#8, N
	call	#copy_words
	mov.w	NONCE, KEY
	add.w	#4, OUT
	mov.w	#3, N
	call	#copy_words
	mov.w	ARGUMENTS(r1), IN
	mov.w	ARGUMENTS + 2(r1), OUT
	mov.w	ARGUMENTS + 4(r1), LEN
	tst.w	LEN
	jz	7f

1:	mov.w	r1, r12
	mov.w	r1, r13
	add.w	#STATE, r13
	call	#ws_chacha20_rounds_to
	mov.w	r1, r12
	mov.w	r1, r13
	add.w	#STATE, r13
	; The block's bytes.
	mov.w	LEN, N
	cmp.w	#65, N
	jlo	2f
	mov.w	#64, N
2:	sub.w	N, LEN
	sub.w	#4, N
	jlo	5f
	mov.w	IN, S
	bis.w	OUT, S
	bit.w	#1, S
	jnz	4f
3:	mov.w	@r12+, LOW
	mov.w	@r12+, HIGH
	add.w	@r13+, LOW
	addc.w	@r13+, HIGH
	xor.w	@IN+, LOW
	xor.w	@IN+, HIGH
	mov.w	LOW, 0(OUT)
	mov.w	HIGH, 2(OUT)
	add.w	#4, OUT
	sub.w	#4, N
	jhs	3b
	jmp	5f
4:	mov.w	@r12+, LOW
	mov.w	@r12+, HIGH
	add.w	@r13+, LOW
	addc.w	@r13+, HIGH
	load_bytes S, IN
	xor.w	S, LOW
	load_bytes S, IN
	xor.w	S, HIGH
	store_bytes LOW, 0
	store_bytes HIGH, 2
	add.w	#4, OUT
	sub.w	#4, N
	jhs	4b
	; Up to three bytes of the last word.
5:	add.w	#4, N
	jz	6f
	mov.w	@r12+, LOW
	mov.w	@r12+, HIGH
	add.w	@r13+, LOW
	addc.w	@r13+, HIGH
8:	mov.b	@IN+, S
	xor.b	LOW, S
	mov.b	S, 0(OUT)
	inc.w	OUT
	; The word by a byte to the right.
	swpb	LOW
	mov.b	LOW, LOW
	mov.b	HIGH, T
	swpb	T
	bis.w	T, LOW
	swpb	HIGH
	mov.b	HIGH, HIGH
	dec.w	N
	jnz	8b
6:	inc.w	COUNTER(r1)
	adc.w	COUNTER + 2(r1)
	tst.w	LEN
	jnz	1b

7:	add.w	#FRAME, r1
	.irp	word, r4, r5, r6, r7, r8, r9, r10, r11
	clr.w	\word
	.endr
	.rept	8
	push_r4_to_r11
	.endr
	add.w	#FRAME, r1
	pop_r4_to_r11
	ret

; N words of 32 bits from KEY to OUT; both go on. Clobbers LOW, T.
copy_words:
	bit.w	#1, KEY
	jnz	2f
1:	mov.w	@KEY+, LOW
	mov.w	LOW, 0(OUT)
	mov.w	@KEY+, LOW
	mov.w	LOW, 2(OUT)
	add.w	#4, OUT
	dec.w	N
	jnz	1b
	ret
2:	load_bytes LOW, KEY
	mov.w	LOW, 0(OUT)
	load_bytes LOW, KEY
	mov.w	LOW, 2(OUT)
	add.w	#4, OUT
	dec.w	N
	jnz	2b
	ret
	.size	ws_chacha20, . - ws_chacha20
