; AES key expansion, FIPS 197 section 5.2, the small variant: ws_aes_expand of crypto/aes.h.
;
; in:	DPTR and B = round_keys; in external RAM _ws_aes_expand_PARM_2, _3 = key, key_words, as sdcc's large model
;	passes them; register bank 0 selected
; out:	the round keys. R0 to R7, A, B, DPTR, PSW clobbered; stack: 4 bytes with the return address. No secret stays
;	in internal RAM.
; Machine cycles from LCALL to RET inclusive, all pointers to external RAM: 5,355 (128), 6,369 (192), 7,300 (256); 174
; bytes of code, beside the S-box and __gptrget.
; Constant flow: the size of the key, the round constant and the kinds of memory alone decide branches; MOVC takes the
; same time everywhere.
;
; The words that one use of the round constant makes are a block, as many as the key has. It is made in internal RAM at
; the end of ws_aes_key, so that its last word has the same address for all sizes, and copied from there.

	.module	aes_expand_small
	.include "aes_steps.inc"
	.include "aes_expand.inc"

; R4 = first byte of the block, R3 = words left to make, R5 = round constant, B, R7, R6 = where they go.
	begin
load:
	lcall	__gptrget
	mov	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#end,load
	mov	b,r5
	mov	r5,#0x01
	mov	a,r3			; 4 (key_words + 7) words in all
	add	a,#7
	rl	a
	rl	a
	mov	r3,a

store:
	mov	dpl,r6
	mov	dph,r7
	mov	a,r4
	mov	r0,a
byte:
	mov	a,@r0
	lcall	__gptrput
	inc	dptr
	inc	r0
	mov	a,r0			; ws_aes_key is at an address divisible by 4
	anl	a,#3
	jnz	byte
	djnz	r3,2$
	sjmp	wipe
2$:
	cjne	r0,#end,byte

block:
	first_word
4$:
	mov	a,@r1
	xrl	a,@r0
	mov	@r0,a
	inc	r0
	inc	r1
	cjne	r0,#k+16,5$
	cjne	r4,#k,5$
	substitute	k+12		; the fifth of eight words
	substitute	k+13
	substitute	k+14
	substitute	k+15
	mov	r1,#k+16
5$:
	cjne	r0,#end,4$
	ljmp	store

wipe:
	mov	r0,#k
	clr	a
6$:
	mov	@r0,a
	inc	r0
	cjne	r0,#end,6$
	ret
