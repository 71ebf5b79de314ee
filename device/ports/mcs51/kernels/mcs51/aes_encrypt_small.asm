; AES with expanded keys, FIPS 197, the small variant: ws_aes_encrypt of crypto/aes.h.
;
; in:	DPTR and B = round_keys; in external RAM _ws_aes_encrypt_PARM_2, _3, _4 = rounds, in, out, as sdcc's large
;	model passes them; register bank 0 selected
; out:	the block at out; no secret stays elsewhere: ws_aes_key and ws_aes_block are wiped, the one for the key, the
;	other because a block may be key stream. R0 to R7, A, B, DPTR, PSW clobbered; stack: 6 bytes with the
;	return address
; Machine cycles from LCALL to RET inclusive, all pointers to external RAM: 4,228 (128), 4,953 (192), 5,809 (256); 106
; bytes of code, beside the kernels' and __gptrget.
; Constant flow: the number of rounds and the kinds of memory alone decide branches.
;
; The first round keys are the key, and to make the others in internal RAM takes 3 machine cycles a byte, where to fetch
; them from external RAM takes 5: so this is a caller of the kernels that make them on the way.

	.module	aes_encrypt_small
	.include "aes_steps.inc"
	.include "aes_encrypt.inc"

	encrypt
wipe:
	mov	@r0,a
	inc	r0
	cjne	r0,#k+32,wipe
	mov	dptr,#_ws_aes_encrypt_PARM_4
	lcall	ws_aes_encrypt_pointer
	mov	r0,#s
byte:
	clr	a
	xch	a,@r0
	lcall	__gptrput
	inc	dptr
	inc	r0
	cjne	r0,#s+16,byte
	ret

; From the pointer DPTR, B to internal RAM from R0 up to, but without, R4.
ws_aes_encrypt_load::
	lcall	__gptrget
	mov	@r0,a
	inc	dptr
	inc	r0
	mov	a,r0
	xrl	a,r4
	jnz	ws_aes_encrypt_load
	ret

	fetch_pointer
