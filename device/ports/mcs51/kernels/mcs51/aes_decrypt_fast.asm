; AES decryption, FIPS 197, the fast variant: ws_aes_decrypt of crypto/aes.h.
;
; in:	DPTR and B = round_keys; in external RAM _ws_aes_decrypt_PARM_2, _3, _4 = rounds, in, out, as sdcc's large
;	model passes them; register bank 0 selected
; out:	the block at out; no secret stays elsewhere, ws_aes_block is wiped. R0 to R7, A, B, DPTR, PSW clobbered;
;	stack: 6 bytes with the return address
; Machine cycles from LCALL to RET inclusive, all pointers to external RAM: 3,156 (128), 3,730 (192), 4,304 (256); 450
; bytes of code, beside the tables and __gptrget.
; Constant flow: the number of rounds and the kinds of memory alone decide branches; MOVC takes the same time
; everywhere.
;
; Rows are substituted and shifted in one go, each byte exchanged for the next. InvMixColumns is MixColumns of a column
; to which 4 (a0 + a2) is added in rows 0 and 2, and 4 (a1 + a3) in rows 1 and 3; neither sum changes by that, so that
; the doubles on the way to 4 serve both, and the table of doubles is read five times a column. How MixColumns is done,
; aes_keyed_round_fast.asm says.

	.module	aes_decrypt_fast
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox, _ws_secret_table_aes_inverse_sbox
	.globl	__gptrget, __gptrput
	.globl	_ws_aes_block		; so that it is linked

T	=	0x03			; R3, where XRL T,A is one instruction

	.area	XSEG	(XDATA)
_ws_aes_decrypt_PARM_2::
	.ds	2
_ws_aes_decrypt_PARM_3::
	.ds	3
_ws_aes_decrypt_PARM_4::
	.ds	3

	.area	CSEG	(CODE)

; A column of InvMixColumns.
.macro	column	m0, m1, m2, m3
	mov	a,m0
	xrl	a,m2
	mov	r3,a
	movc	a,@a+dptr
	mov	r1,a
	movc	a,@a+dptr
	xrl	m0,a
	xrl	m2,a
	mov	a,m1
	xrl	a,m3
	xrl	T,a
	movc	a,@a+dptr
	mov	r2,a
	movc	a,@a+dptr
	xrl	m1,a
	xrl	m3,a
	mov	a,m0
	xrl	a,m1
	movc	a,@a+dptr
	xrl	a,r3
	xrl	m0,a
	xrl	a,r1
	xrl	m1,a
	xrl	a,r2
	xrl	m2,a
	xrl	a,r1
	xrl	m3,a
.endm

; The next byte of the round key in external RAM.
.macro	key	x
	movx	a,@dptr
	xrl	x,a
	inc	dptr
.endm

_ws_aes_decrypt::
	mov	r6,dpl
	mov	r7,dph
	mov	r5,b
	mov	dptr,#_ws_aes_decrypt_PARM_2
	movx	a,@dptr
	mov	r4,a
	swap	a			; the last round key, 16 rounds further on
	add	a,r6
	mov	r6,a
	clr	a
	addc	a,r7
	mov	r7,a
	mov	dptr,#_ws_aes_decrypt_PARM_3
	lcall	ws_aes_decrypt_pointer
	mov	r0,#s
	mov	a,b
	jnz	load
quick:
	movx	a,@dptr
	mov	@r0,a
	inc	dptr
	inc	r0
	movx	a,@dptr
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,quick
	sjmp	loaded
load:
	lcall	__gptrget
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,load
loaded:
	mov	b,r5
	lcall	ws_aes_decrypt_add
round:
	mov	dptr,#_ws_secret_table_aes_inverse_sbox
	inverse_substitute_and_shift
	lcall	ws_aes_decrypt_add
	djnz	r4,mix

	clr	a
	mov	r1,a
	mov	r2,a
	mov	r3,a
	mov	dptr,#_ws_aes_decrypt_PARM_4
	lcall	ws_aes_decrypt_pointer
	mov	r0,#s
	mov	a,b
	jnz	store
two:
	clr	a
	xch	a,@r0
	movx	@dptr,a
	inc	dptr
	inc	r0
	clr	a
	xch	a,@r0
	movx	@dptr,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,two
	ret
store:
	clr	a
	xch	a,@r0
	lcall	__gptrput
	inc	dptr
	inc	r0
	cjne	r0,#s+16,store
	ret

mix:
	mov	dptr,#(_ws_secret_table_aes_sbox + 256)
	column	s+0, s+1, s+2, s+3
	column	s+4, s+5, s+6, s+7
	column	s+8, s+9, s+10, s+11
	column	s+12, s+13, s+14, s+15
	ljmp	round

; Adds the round key at B, R7, R6, which goes back to the one before.
ws_aes_decrypt_add::
	mov	dpl,r6
	mov	dph,r7
	mov	a,r6
	add	a,#-16
	mov	r6,a
	mov	a,r7
	addc	a,#-1
	mov	r7,a
	mov	a,b
	jnz	slow
	key	s+0
	key	s+1
	key	s+2
	key	s+3
	key	s+4
	key	s+5
	key	s+6
	key	s+7
	key	s+8
	key	s+9
	key	s+10
	key	s+11
	key	s+12
	key	s+13
	key	s+14
	movx	a,@dptr
	xrl	s+15,a
	ret
slow:
	mov	r0,#s
1$:
	lcall	__gptrget
	xrl	a,@r0
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,1$
	ret

; DPTR, B = the pointer in external RAM at DPTR.
ws_aes_decrypt_pointer::
	load_pointer
	ret
