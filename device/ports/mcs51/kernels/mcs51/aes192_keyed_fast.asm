; AES-192 with the round keys made on the way, FIPS 197, the fast variant: ws_aes192_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; R0 to R7, DPTR, PSW clobbered. Stack: 4 bytes with the return address.
; 2,656 machine cycles from LCALL to RET inclusive; 392 bytes of code, 1,104 with aes_keyed_round_fast.asm and
; the tables.
; Constant flow: counters alone decide branches.
;
; The rounds are in aes192_keyed.inc.

	.module	aes192_keyed_fast
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox, ws_aes_keyed_round
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

_ws_aes192_encrypt_block::
	mov	dptr,#_ws_secret_table_aes_sbox
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
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	cjne	r1,#s+16,whiten

	.include "aes192_keyed.inc"
