; AES-128 with the round keys made on the way, FIPS 197, the small variant: ws_aes128_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; R0 to R7, DPTR, PSW clobbered. Stack: 4 bytes with the return address.
; 3,165 machine cycles from LCALL to RET inclusive; 146 bytes of code, 541 with aes_keyed_round_small.asm and the S-box.
; Constant flow: counters and the round constant alone decide branches.
;
; Each row of the round key is a chain in A: the byte that was made last is what the next one needs. The S-box of the
; word that row 0 is about to change is taken before, and waits in row 3. Between the routines byte 15 of the state is
; in A.

	.module	aes128_keyed_small
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox, ws_aes_keyed_round
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

.macro	row	r
	movc	a,@a+dptr
	next	k+0+r, s+0+r
	next	k+4+r, s+4+r
	next	k+8+r, s+8+r
	next	k+12+r, s+12+r
.endm

_ws_aes128_encrypt_block::
	mov	dptr,#_ws_secret_table_aes_sbox
	mov	r6,#10
	mov	r7,#0x01
	mov	r0,#k
	mov	r1,#s
whiten:
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	cjne	r1,#s+16,whiten
more:
	lcall	ws_aes_keyed_round
	mov	a,r7
	xrl	k+0,a
	add	a,acc
	jnc	1$
	xrl	a,#0x1b
1$:
	mov	r7,a
	mov	a,k+12
	movc	a,@a+dptr
	xrl	k+3,a
	mov	a,k+13
	row	0
	mov	a,k+14
	row	1
	mov	a,k+15
	row	2
	mov	a,k+3
	xrl	s+3,a
	next	k+7, s+7
	next	k+11, s+11
	xrl	a,k+15
	mov	k+15,a
	xrl	a,s+15
	cjne	r6,#0,more
	mov	s+15,a
	ret
