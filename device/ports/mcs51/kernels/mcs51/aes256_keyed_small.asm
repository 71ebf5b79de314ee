; AES-256 with the round keys made on the way, FIPS 197, the small variant: ws_aes256_encrypt_block of
; crypto/aes_keyed.h.
;
; in:	ws_aes_block = plaintext, ws_aes_key = key; register bank 0 selected
; out:	ws_aes_block = ciphertext; ws_aes_key undefined, as secret as the key; no other secret stays
; R0 to R7, DPTR, PSW clobbered. Stack: 4 bytes with the return address.
; 4,460 machine cycles from LCALL to RET inclusive; 267 bytes of code, 662 with aes_keyed_round_small.asm and the S-box.
; Constant flow: counters alone decide branches.
;
; The rounds are in aes256_keyed.inc.

	.module	aes256_keyed_small
	.include "aes_steps.inc"
	.globl	_ws_secret_table_aes_sbox, ws_aes_keyed_round
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked
	.area	CSEG	(CODE)

_ws_aes256_encrypt_block::
	mov	dptr,#_ws_secret_table_aes_sbox
	mov	r6,#14
	mov	r7,#0x80
	mov	r0,#k
	lcall	ws_aes256_keyed_add
	lcall	ws_aes_keyed_round
	mov	r0,#k+16
	lcall	ws_aes256_keyed_add
	.include "aes256_keyed.inc"

; Adds the 16 key bytes at R0, which moves on; A is the state's last byte then.
ws_aes256_keyed_add::
	mov	r1,#s
1$:
	mov	a,@r0
	xrl	a,@r1
	mov	@r1,a
	inc	r0
	inc	r1
	cjne	r1,#s+16,1$
	ret
