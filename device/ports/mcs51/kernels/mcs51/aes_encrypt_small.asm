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
	.globl	_ws_aes128_encrypt_block, _ws_aes192_encrypt_block, _ws_aes256_encrypt_block
	.globl	__gptrget, __gptrput
	.globl	_ws_aes_key, _ws_aes_block	; so that they are linked

	.area	XSEG	(XDATA)
_ws_aes_encrypt_PARM_2::
	.ds	2
_ws_aes_encrypt_PARM_3::
	.ds	3
_ws_aes_encrypt_PARM_4::
	.ds	3

	.area	CSEG	(CODE)
_ws_aes_encrypt::
	mov	r6,dpl
	mov	r7,dph
	mov	dptr,#_ws_aes_encrypt_PARM_2
	movx	a,@dptr
	mov	r5,a
	rl	a			; 4 (rounds - 6) bytes of key
	rl	a
	add	a,#k-24
	mov	r4,a
	mov	dpl,r6
	mov	dph,r7
	mov	r0,#k
	lcall	ws_aes_encrypt_load
	mov	dptr,#_ws_aes_encrypt_PARM_3
	lcall	ws_aes_encrypt_pointer
	mov	r0,#s
	mov	r4,#s+16
	lcall	ws_aes_encrypt_load
	cjne	r5,#12,not12
	lcall	_ws_aes192_encrypt_block
	sjmp	store
not12:
	jnc	is14
	lcall	_ws_aes128_encrypt_block
	sjmp	store
is14:
	lcall	_ws_aes256_encrypt_block
store:
	mov	r0,#k
	clr	a
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

; DPTR, B = the pointer in external RAM at DPTR.
ws_aes_encrypt_pointer::
	movx	a,@dptr
	mov	r6,a
	inc	dptr
	movx	a,@dptr
	mov	r7,a
	inc	dptr
	movx	a,@dptr
	mov	b,a
	mov	dpl,r6
	mov	dph,r7
	ret
