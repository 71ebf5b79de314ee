; AES-192 with the round keys made on the way, FIPS 197, the small variant: ws_aes192_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; R0 to R7, DPTR, PSW clobbered. Stack: 4 bytes with the return address.
; 3,748 machine cycles from LCALL to RET inclusive; 377 bytes of code, 772 with aes_keyed_round_small.asm and the S-box.
; Constant flow: counters alone decide branches.
;
; Three rounds have two blocks of six words of the key schedule between them: the first adds the last two of a block
; and makes two of the next, the second makes the other four, the third makes the next six and adds four. Each row of
; the key is a chain in A. The S-box of a word that a row is about to change is taken before.
;
; Between the routines byte 15 of the state is in A.

	.module	aes192_keyed_small
	.globl	_ws_aes_sbox, ws_aes_keyed_round
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

k	=	0x0c			; ws_aes_key
s	=	0x30			; ws_aes_block

; The next byte of a row of the key behind that in A takes its place kk and is added to ss; pass adds nothing.
.macro	next	kk, ss
	xrl	a,kk
	mov	kk,a
	xrl	ss,a
.endm
.macro	pass	kk
	xrl	a,kk
	mov	kk,a
.endm
; The rows r of three rounds: A = S-box of the last word; two likewise; four, whose A is the second word's.
.macro	six	r
	next	k+0+r, s+0+r
	next	k+4+r, s+4+r
	next	k+8+r, s+8+r
	next	k+12+r, s+12+r
	pass	k+16+r
	pass	k+20+r
.endm
.macro	two	r
	next	k+0+r, s+8+r
	next	k+4+r, s+12+r
.endm
.macro	four	r
	mov	a,k+4+r
	next	k+8+r, s+0+r
	next	k+12+r, s+4+r
	next	k+16+r, s+8+r
	next	k+20+r, s+12+r
.endm
; A key byte that is made already.
.macro	known	kk, ss
	mov	a,kk
	xrl	ss,a
.endm

_ws_aes192_encrypt_block::
	mov	dptr,#_ws_aes_sbox
	mov	r6,#12
	mov	r7,#0x80
	mov	r0,#k
	mov	r1,#s
whiten:
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	cjne	r1,#s+16,whiten

three:
	lcall	ws_aes_keyed_round
	mov	a,r7
	rl	a
	mov	r7,a
	xrl	k+0,a
	known	k+16, s+0
	known	k+17, s+1
	known	k+18, s+2
	known	k+19, s+3
	known	k+21, s+5
	movc	a,@a+dptr
	two	0
	known	k+22, s+6
	movc	a,@a+dptr
	two	1
	known	k+23, s+7
	movc	a,@a+dptr
	two	2
	known	k+20, s+4
	movc	a,@a+dptr
	next	k+3, s+11
	xrl	a,k+7
	mov	k+7,a
	xrl	a,s+15

	lcall	ws_aes_keyed_round
	four	0
	four	1
	four	2
	mov	a,k+7
	next	k+11, s+3
	next	k+15, s+7
	next	k+19, s+11
	xrl	a,k+23
	mov	k+23,a
	xrl	a,s+15

	lcall	ws_aes_keyed_round
	mov	a,r7
	rl	a
	mov	r7,a
	xrl	k+0,a
	mov	a,k+20
	movc	a,@a+dptr
	xrl	k+3,a
	mov	a,k+21
	movc	a,@a+dptr
	six	0
	mov	a,k+22
	movc	a,@a+dptr
	six	1
	mov	a,k+23
	movc	a,@a+dptr
	six	2
	mov	a,k+3
	xrl	s+3,a
	next	k+7, s+7
	next	k+11, s+11
	next	k+15, s+15
	pass	k+19
	pass	k+23
	mov	a,s+15
	cjne	r6,#0,more
	mov	s+15,a
	ret
more:
	ljmp	three
