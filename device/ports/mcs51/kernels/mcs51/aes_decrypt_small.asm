; AES decryption, FIPS 197, the small variant: ws_aes_decrypt of crypto/aes.h.
;
; in:	DPTR and B = round_keys; in external RAM _ws_aes_decrypt_PARM_2, _3, _4 = rounds, in, out, as sdcc's large
;	model passes them; register bank 0 selected
; out:	the block at out; no secret stays elsewhere, ws_aes_block is wiped. R0 to R7, A, B, DPTR, PSW clobbered;
;	stack: 6 bytes with the return address
; Machine cycles from LCALL to RET inclusive, all pointers to external RAM: 7,719 (128), 9,159 (192), 10,599 (256); 257
; bytes of code, beside the inverse S-box and __gptrget.
; Constant flow: the number of rounds and the kinds of memory alone decide branches; MOVC takes the same time
; everywhere.
;
; Rows are substituted and shifted in one go, each byte exchanged for the next. InvMixColumns is MixColumns of a column
; to which 4 (a0 + a2) is added in rows 0 and 2, and 4 (a1 + a3) in rows 1 and 3; neither sum changes by that, so that
; the doubles on the way to 4 serve both. aes_keyed_round_small.asm says how MixColumns is done.

	.module	aes_decrypt_small
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_inverse_sbox
	.globl	__gptrget, __gptrput
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked

P	=	0x02			; R2, R3, R5, where XRL P,A is one instruction
Q	=	0x03
T	=	0x05
left	=	0x0c			; rounds, in ws_aes_key

	.area	XSEG	(XDATA)
_ws_aes_decrypt_PARM_2::
	.ds	2
_ws_aes_decrypt_PARM_3::
	.ds	3
_ws_aes_decrypt_PARM_4::
	.ds	3

	.area	CSEG	(CODE)

; @r ^= A; A stays.
.macro	into	rr
	xch	a,rr
	xrl	a,rr
	xch	a,rr
.endm

_ws_aes_decrypt::
	mov	r6,dpl
	mov	r7,dph
	mov	r5,b
	mov	dptr,#_ws_aes_decrypt_PARM_2
	movx	a,@dptr
	mov	left,a
	swap	a			; the last round key, 16 rounds further on
	add	a,r6
	mov	r6,a
	clr	a
	addc	a,r7
	mov	r7,a
	mov	dptr,#_ws_aes_decrypt_PARM_3
	lcall	ws_aes_decrypt_pointer
load:
	lcall	__gptrget
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,load
	mov	b,r5
	lcall	ws_aes_decrypt_add
round:
	mov	dptr,#_ws_secret_table_aes_inverse_sbox
	inverse_substitute_and_shift
	lcall	ws_aes_decrypt_add
	djnz	left,mix

	mov	r2,a
	mov	r3,a
	mov	r4,a
	mov	r5,a
	mov	dptr,#_ws_aes_decrypt_PARM_4
	lcall	ws_aes_decrypt_pointer
store:
	clr	a
	xch	a,@r0
	lcall	__gptrput
	inc	dptr
	inc	r0
	cjne	r0,#s+16,store
	ret

mix:
	mov	r0,#s+0
	mov	r1,#s+2
1$:
	mov	a,@r0
	xrl	a,@r1
	mov	r5,a
	mov	r3,a
	lcall	ws_aes_decrypt_double
	mov	r2,a
	lcall	ws_aes_decrypt_double
	into	@r0
	into	@r1
	inc	r0
	inc	r1
	mov	a,@r0
	xrl	a,@r1
	xrl	T,a
	lcall	ws_aes_decrypt_double
	xrl	Q,a
	lcall	ws_aes_decrypt_double
	into	@r0
	into	@r1
	mov	a,@r0
	dec	r0
	xrl	a,@r0
	xrl	P,a
	xrl	Q,a
	lcall	ws_aes_decrypt_double
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
	ljmp	round

; A times 2 in GF(2^8): SUBB makes 0xff of a carry.
ws_aes_decrypt_double::
	add	a,acc
	mov	r4,a
	subb	a,acc
	anl	a,#0x1b
	xrl	a,r4
	ret

; Adds the round key at B, R7, R6, which goes back to the one before; A = 0 then.
ws_aes_decrypt_add::
	mov	dpl,r6
	mov	dph,r7
	mov	r0,#s
1$:
	lcall	__gptrget
	xrl	a,@r0
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#s+16,1$
	mov	a,r6
	add	a,#-16
	mov	r6,a
	mov	a,r7
	addc	a,#-1
	mov	r7,a
	clr	a
	ret

; DPTR, B = the pointer in external RAM at DPTR; R0 = s.
ws_aes_decrypt_pointer::
	load_pointer
	mov	r0,#s
	ret
