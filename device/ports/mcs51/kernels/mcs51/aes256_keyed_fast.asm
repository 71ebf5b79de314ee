; AES-256 with the round keys made on the way, FIPS 197, the fast variant: ws_aes256_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; R0 to R7, DPTR, PSW clobbered. Stack: 4 bytes with the return address.
; 3,092 machine cycles from LCALL to RET inclusive; 327 bytes of code, 1,039 with aes_keyed_round_fast.asm and the
; tables.
; Constant flow: counters alone decide branches.
;
; The rounds are in aes256_keyed.inc.

	.module	aes256_keyed_fast
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox, ws_aes_keyed_round
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

; A key byte that is there already.
.macro	known	kk, ss
	mov	a,kk
	xrl	ss,a
.endm

_ws_aes256_encrypt_block::
	mov	dptr,#_ws_secret_table_aes_sbox
	mov	r6,#14
	mov	r7,#0x80
	mov	r0,#k
	mov	r1,#s
1$:
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	cjne	r1,#s+16,1$
	lcall	ws_aes_keyed_round
	known	k+16, s+0
	known	k+17, s+1
	known	k+18, s+2
	known	k+19, s+3
	known	k+20, s+4
	known	k+21, s+5
	known	k+22, s+6
	known	k+23, s+7
	known	k+24, s+8
	known	k+25, s+9
	known	k+26, s+10
	known	k+27, s+11
	known	k+28, s+12
	known	k+29, s+13
	known	k+30, s+14
	mov	a,k+31
	xrl	a,s+15
	.include "aes256_keyed.inc"
