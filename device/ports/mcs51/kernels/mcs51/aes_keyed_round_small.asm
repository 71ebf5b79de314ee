; A round of AES but for its key, for the three key sizes of crypto/aes_keyed.h, the small variant.
;
; ws_aes_keyed_round: SubBytes, ShiftRows, MixColumns of ws_aes_block, FIPS 197 sections 5.1.1 to 5.1.3; the last round
; has no MixColumns.
;	in:	A = byte 15 of the state, the other 15 in ws_aes_block; DPTR = ws_secret_table_aes_sbox; R6 = rounds left, this
;		one included, not 0; register bank 0
;	out:	ws_aes_block; R6 = rounds left
;		R2 to R5 are 0 behind the last round; R0, R1, A, PSW clobbered
;	255 machine cycles with LCALL and RET, 66 in the last round; 139 bytes of code
; Constant flow: the counter R6 alone decides a branch.
;
; The S-box is the one table, and of C: crypto/aes_sbox.c. Rows are substituted and shifted in one go, each byte
; exchanged for the next. MixColumns is made of three doublings to a column: with d = a0 + a2, e = a1 + a3,
; u = a0 + a1, T = d + e, P = u + 2d and Q = u + d + 2e, the new column is
;	b0 = a0 + T + 2u,  b1 = b0 + P,  b2 = b1 + Q,  b3 = b2 + P + T.

	.module	aes_keyed_round_small
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox

	.area	CSEG	(CODE)

P	=	0x02			; R2, R3, R5, where XRL P,A is one instruction
Q	=	0x03
T	=	0x05

; A = what the carry of a doubling in GF(2^8) adds; SUBB makes 0xff of it.
.macro	carry
	subb	a,acc
	anl	a,#0x1b
.endm

ws_aes_keyed_round::
	substitute_and_shift
	djnz	r6,mix
	clr	a
	mov	r2,a
	mov	r3,a
	mov	r4,a
	mov	r5,a
	ret
mix:
	mov	r0,#s+0
	mov	r1,#s+2
1$:
	mov	a,@r0
	xrl	a,@r1			; d
	mov	r5,a
	mov	r3,a
	add	a,acc
	mov	r2,a
	carry
	xrl	P,a			; P = 2d
	inc	r0
	inc	r1
	mov	a,@r0
	xrl	a,@r1			; e
	xrl	T,a
	add	a,acc
	xrl	Q,a
	carry
	xrl	Q,a			; Q = d + 2e
	mov	a,@r0
	dec	r0
	xrl	a,@r0			; u
	xrl	P,a
	xrl	Q,a
	add	a,acc
	mov	r4,a
	carry
	xrl	a,r4
	xrl	a,r5
	xrl	a,@r0
	mov	@r0,a
	inc	r0
	xrl	a,r2
	mov	@r0,a
	inc	r0
	xrl	a,r3
	mov	@r0,a
	xrl	a,r2
	xrl	a,r5
	mov	@r1,a
	inc	r0
	inc	r0
	inc	r1
	inc	r1
	inc	r1
	cjne	r0,#s+16,1$
	ret
