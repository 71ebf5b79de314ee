; GHASH, NIST SP 800-38D section 6.4, the fast variant: ws_ghash_blocks of crypto/ghash.h.
;
; in:	DPTR and B = y; in external RAM _ws_ghash_blocks_PARM_2, _3, _4 = h, data, blocks, as sdcc's large model passes
;	them; register bank 0 selected
; out:	y; no secret stays elsewhere: what AES's kernels lie in is wiped, and so is the factor
; R0 to R7, A, B, DPTR, PSW clobbered. Stack: 4 bytes with the return address, and __gptrget's.
; Internal RAM: none of its own, 48 bytes of AES's kernels (aes_keyed_fast.asm), which run at other times; external RAM: 27.
; 10,394 machine cycles for one block from LCALL to RET inclusive, all pointers to external RAM; 1,838 bytes, beside __gptrget and
; __gptrput.
; Constant flow: the number of blocks and the kinds of memory alone decide branches, and no address depends on a secret.
;
; The idea is that of the 68HC08's ghash_fast.asm: bit k of byte i of the one factor wants the other times x^k, i bytes on in the
; product of 32 bytes. All bytes have their turn for each k, written out, and the other factor is shifted only between. Then the
; upper half of the product comes down with x^128 = 1 + x + x^2 + x^7.

	.module	ghash_fast
	.globl	_ws_aes_key, _ws_aes_block
	.globl	__gptrget, __gptrput

product	= 32				; bytes, in ws_aes_key; the shifted factor is in ws_aes_block and B

	.area	XSEG	(XDATA)
_ws_ghash_blocks_PARM_2::
	.ds	3
_ws_ghash_blocks_PARM_3::
	.ds	3
_ws_ghash_blocks_PARM_4::
	.ds	2
y:	.ds	3
factor:	.ds	16

; DPTR, B = the pointer in external RAM at DPTR; A, R6, R7 clobbered.
.macro	fetch_pointer
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
.endm

; Stores DPTR, B at a place in external RAM; A, R6, R7 clobbered.
.macro	store_pointer	place
	mov	r6,dpl
	mov	r7,dph
	mov	dptr,#place
	mov	a,r6
	movx	@dptr,a
	inc	dptr
	mov	a,r7
	movx	@dptr,a
	inc	dptr
	mov	a,b
	movx	@dptr,a
.endm

; 16 bytes from where DPTR, B point to R0, and on.
.macro	read_bytes	?l
	mov	r5,#16
l:	lcall	__gptrget
	mov	@r0,a
	inc	r0
	inc	dptr
	djnz	r5,l
.endm

; Byte i of the factor: its next bit makes the mask, which chooses what the shifted factor adds. 60 cycles.
.macro	byte	i
	movx	a,@dptr
	add	a,acc
	movx	@dptr,a
	inc	dptr
	subb	a,acc
	mov	r7,a
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	a,_ws_aes_block+j
	anl	a,r7
	xrl	_ws_aes_key+i+j,a
	.endm
	mov	a,b
	anl	a,r7
	xrl	_ws_aes_key+i+16,a
.endm

	.area	CSEG	(CODE)
_ws_ghash_blocks::
	store_pointer	y
next:	mov	dptr,#_ws_ghash_blocks_PARM_4	; blocks - 1, or the end
	movx	a,@dptr
	add	a,#0xff
	movx	@dptr,a
	mov	r5,a
	inc	dptr
	movx	a,@dptr
	addc	a,#0xff
	movx	@dptr,a
	jc	1$
	ljmp	done

1$:	mov	dptr,#_ws_ghash_blocks_PARM_3	; factor = y + data
	fetch_pointer
	mov	r0,#_ws_aes_key
	read_bytes
	store_pointer	_ws_ghash_blocks_PARM_3
	mov	dptr,#y
	fetch_pointer
	mov	r0,#_ws_aes_block
	read_bytes
	mov	dptr,#factor
	mov	r0,#_ws_aes_key
	mov	r1,#_ws_aes_block
	mov	r5,#16
2$:	mov	a,@r0
	xrl	a,@r1
	movx	@dptr,a
	inc	dptr
	inc	r0
	inc	r1
	djnz	r5,2$
	mov	dptr,#_ws_ghash_blocks_PARM_2
	fetch_pointer
	mov	r0,#_ws_aes_block
	read_bytes
	mov	b,#0
	lcall	clear_product

	mov	r6,#8
bit:	mov	dptr,#factor
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	byte	n
	.endm
	dec	r6
	mov	a,r6
	jz	reduce
	clr	c
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov	a,_ws_aes_block+n
	rrc	a
	mov	_ws_aes_block+n,a
	.endm
	mov	a,b
	rrc	a
	mov	b,a
	ljmp	bit

; A byte b of the upper half adds b + b x + b x^2 + b x^7, 15 bits, to the byte 16 before it and the one behind that.
reduce:	mov	r0,#_ws_aes_key+31
	mov	r1,#_ws_aes_key+15
	mov	r5,#16
3$:	mov	a,@r0
	mov	r2,a
	clr	c
	rrc	a
	mov	r3,a
	clr	c
	rrc	a
	xrl	a,r3
	xrl	a,r2
	mov	r3,a
	mov	a,r2
	rl	a
	anl	a,#0x01
	xrl	a,r3
	xrl	a,@r1
	mov	@r1,a
	inc	r1
	mov	a,r2
	add	a,acc
	mov	r3,a
	mov	a,r2
	rr	a
	mov	r4,a
	anl	a,#0x80
	xrl	a,r3
	mov	r3,a
	mov	a,r4
	rr	a
	anl	a,#0xc0
	xrl	a,r3
	xrl	a,@r1
	mov	@r1,a
	dec	r1
	dec	r1
	dec	r0
	djnz	r5,3$

	mov	dptr,#y
	fetch_pointer
	mov	r0,#_ws_aes_key
	mov	r5,#16
4$:	mov	a,@r0
	lcall	__gptrput
	inc	r0
	inc	dptr
	djnz	r5,4$
	ljmp	next

done:	mov	r0,#_ws_aes_block
	mov	r5,#16
	lcall	clear
clear_product:
	mov	r0,#_ws_aes_key
	mov	r5,#product
clear:	clr	a
5$:	mov	@r0,a
	inc	r0
	djnz	r5,5$
	ret
