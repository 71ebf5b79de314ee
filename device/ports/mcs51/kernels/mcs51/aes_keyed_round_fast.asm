; A round of AES but for its key, for the 192 and 256-bit keys of crypto/aes_keyed.h, the fast variant.
;
; ws_aes_keyed_round: SubBytes, ShiftRows, MixColumns of ws_aes_block, FIPS 197 sections 5.1.1 to 5.1.3; the last round
; has no MixColumns.
;	in:	A = byte 15 of the state, the other 15 in ws_aes_block; DPTR = ws_secret_table_aes_sbox with the table of
;		doubles behind it, aes_sbox_fast.asm; R6 = rounds left, this one included, not 0; register bank 0
;	out:	ws_aes_block; R6 = rounds left
;		R2 to R4 are 0 behind the last round; A, PSW clobbered
;	158 machine cycles with LCALL and RET, 65 in the last round; 200 bytes of code
; Constant flow: the counter R6 alone decides a branch; MOVC takes the same time everywhere.
;
; Rows are substituted and shifted in one go, each byte exchanged for the next. MixColumns is made of three doublings
; to a column, from the table: with d = a0 + a2, e = a1 + a3, T = d + e and v0 = T + 2 (a0 + a1), the new column is
;	a0 + v0,  a1 + v1,  a2 + v2,  a3 + v3  where  v1 = v0 + 2d,  v2 = v1 + 2e,  v3 = v2 + 2d.

	.module	aes_keyed_round_fast
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox
	.area	CSEG	(CODE)

T	=	0x04			; R4, where XRL T,A is one instruction

; A column of MixColumns; A = m1 ^ m3.
.macro	column	m0, m1, m2, m3
	mov	r4,a
	movc	a,@a+dptr
	mov	r3,a
	mov	a,m0
	xrl	a,m2
	xrl	T,a
	movc	a,@a+dptr
	mov	r2,a
	mov	a,m0
	xrl	a,m1
	movc	a,@a+dptr
	xrl	a,r4
	xrl	m0,a
	xrl	a,r2
	xrl	m1,a
	xrl	a,r3
	xrl	m2,a
	xrl	a,r2
	xrl	m3,a
.endm

ws_aes_keyed_round::
	substitute_and_shift
	djnz	r6,mix
	clr	a
	mov	r2,a
	mov	r3,a
	mov	r4,a
	ret
mix:
	inc	dph
	xrl	a,s+15
	column	s+12, s+13, s+14, s+15
	mov	a,s+1
	xrl	a,s+3
	column	s+0, s+1, s+2, s+3
	mov	a,s+5
	xrl	a,s+7
	column	s+4, s+5, s+6, s+7
	mov	a,s+9
	xrl	a,s+11
	column	s+8, s+9, s+10, s+11
	dec	dph
	ret
