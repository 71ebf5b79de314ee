; AES-128 with the round keys made on the way, FIPS 197, the fast variant: ws_aes128_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; DPTR, PSW clobbered; no register of bank 0 but A. Stack: 4 bytes with the return address.
; 2,063 machine cycles from LCALL to RET inclusive; 503 bytes of code, and 512 of tables in aes_sbox_fast.asm.
; Constant flow: no conditional branch at all; MOVC takes the same time everywhere.
;
; Nine rounds are a routine that begins with MixColumns and ends with the SubBytes and ShiftRows of the next round, so
; that the round key is made, added and used row by row: along a row A is the new key byte, which the next one needs,
; then the state's byte, which goes through the S-box and is exchanged for the next of the shifted row. Before the
; first MixColumns and behind the last SubBytes the rest is written out.
;
; MixColumns takes three doublings to a column, from the table behind the S-box: with d = a0 + a2, e = a1 + a3,
; T = d + e and v0 = T + 2 (a0 + a1), the new column is
;	a0 + v0,  a1 + v1,  a2 + v2,  a3 + v3  where  v1 = v0 + 2d,  v2 = v1 + 2e,  v3 = v2 + 2d.
;
; The last word of the key, which the key schedule reads most, lies in R0 to R3 of register bank 3, and behind it are
; T (R4), 2d (R5), 2e (R6) and the round constant (R7), where a longer key would be.

	.module	aes128_keyed_fast
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

T	=	0x1c			; R4, where XRL T,A is one instruction

; A = S-box of x ^ y.
.macro	first	x, y
	mov	a,x
	xrl	a,y
	movc	a,@a+dptr
.endm

; A column of MixColumns; A = m3.
.macro	column	m0, m1, m2, m3
	xrl	a,m1			; e = a1 + a3
	mov	r4,a
	movc	a,@a+dptr
	mov	r6,a
	mov	a,m0
	xrl	a,m2			; d = a0 + a2
	xrl	T,a
	movc	a,@a+dptr
	mov	r5,a
	mov	a,m0
	xrl	a,m1
	movc	a,@a+dptr
	xrl	a,r4
	xrl	m0,a
	xrl	a,r5
	xrl	m1,a
	xrl	a,r6
	xrl	m2,a
	xrl	a,r5
	xrl	m3,a
.endm

; next, but the key stays.
.macro	last	kk, ss
	xrl	a,kk
	xrl	ss,a
.endm

_ws_aes128_encrypt_block::
	mov	psw,#0x18
	mov	dptr,#_ws_secret_table_aes_sbox
	first	s+0, k+0
	mov	s+0,a
	first	s+4, k+4
	mov	s+4,a
	first	s+8, k+8
	mov	s+8,a
	first	s+12, r0
	mov	s+12,a

	first	s+13, r1
	xch	a,s+9
	xrl	a,k+9
	movc	a,@a+dptr
	xch	a,s+5
	xrl	a,k+5
	movc	a,@a+dptr
	xch	a,s+1
	xrl	a,k+1
	movc	a,@a+dptr
	mov	s+13,a

	first	s+2, k+2
	xch	a,s+10
	xrl	a,k+10
	movc	a,@a+dptr
	mov	s+2,a
	first	s+14, r2
	xch	a,s+6
	xrl	a,k+6
	movc	a,@a+dptr
	mov	s+14,a

	first	s+15, r3
	xch	a,s+3
	xrl	a,k+3
	movc	a,@a+dptr
	xch	a,s+7
	xrl	a,k+7
	movc	a,@a+dptr
	xch	a,s+11
	xrl	a,k+11
	movc	a,@a+dptr
	mov	s+15,a

	mov	r7,#0x01
	lcall	ws_aes128_keyed_round
	mov	r7,#0x02
	lcall	ws_aes128_keyed_round
	mov	r7,#0x04
	lcall	ws_aes128_keyed_round
	mov	r7,#0x08
	lcall	ws_aes128_keyed_round
	mov	r7,#0x10
	lcall	ws_aes128_keyed_round
	mov	r7,#0x20
	lcall	ws_aes128_keyed_round
	mov	r7,#0x40
	lcall	ws_aes128_keyed_round
	mov	r7,#0x80
	lcall	ws_aes128_keyed_round
	mov	r7,#0x1b
	lcall	ws_aes128_keyed_round

	mov	a,r1
	movc	a,@a+dptr
	xrl	a,#0x36
	last	k+0, s+0
	last	k+4, s+4
	last	k+8, s+8
	last	r0, s+12
	mov	a,r2
	movc	a,@a+dptr
	last	k+1, s+1
	last	k+5, s+5
	last	k+9, s+9
	last	r1, s+13
	mov	a,r3
	movc	a,@a+dptr
	last	k+2, s+2
	last	k+6, s+6
	last	k+10, s+10
	last	r2, s+14
	mov	a,r0
	movc	a,@a+dptr
	last	k+3, s+3
	last	k+7, s+7
	last	k+11, s+11
	xrl	a,r3
	xrl	a,s+15
	mov	s+15,a
	mov	psw,#0
	ret

ws_aes128_keyed_round::
	inc	dph
	column	s+12, s+13, s+14, s+15
	mov	a,s+3
	column	s+0, s+1, s+2, s+3
	mov	a,s+7
	column	s+4, s+5, s+6, s+7
	mov	a,s+11
	column	s+8, s+9, s+10, s+11
	dec	dph

	mov	a,r0
	movc	a,@a+dptr
	xrl	k+3,a

	mov	a,r1
	movc	a,@a+dptr
	xrl	a,r7
	next	k+0, s+0
	next	k+4, s+4
	next	k+8, s+8
	xrl	a,r0
	mov	r0,a
	xrl	a,s+12
	put	s+12
	sub	s+0
	sub	s+4
	sub	s+8

	mov	a,r2
	movc	a,@a+dptr
	next	k+1, s+1
	next	k+5, s+5
	next	k+9, s+9
	xrl	a,r1
	mov	r1,a
	xrl	a,s+13
	turn	s+9
	turn	s+5
	turn	s+1
	put	s+13

	mov	a,r3
	movc	a,@a+dptr
	next	k+2, s+2
	next	k+6, s+6
	next	k+10, s+10
	xrl	a,r2
	mov	r2,a
	xrl	a,s+14
	turn	s+6
	put	s+14
	mov	a,s+2
	turn	s+10
	put	s+2

	mov	a,k+3
	xrl	s+3,a
	next	k+7, s+7
	next	k+11, s+11
	xrl	a,r3
	mov	r3,a
	xrl	a,s+15
	turn	s+3
	turn	s+7
	turn	s+11
	put	s+15
	ret
