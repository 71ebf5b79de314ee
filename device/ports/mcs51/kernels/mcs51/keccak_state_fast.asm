; How bytes go in and out of Keccak's state, the fast variant: ws_keccak_xor and ws_keccak_extract
; of crypto/keccak_permutation.h.
;
; in:	DPTR and B = state; in external RAM _ws_keccak_xor_PARM_2, _3, _4 = offset, in, len, or
;	_ws_keccak_extract_PARM_2, _3, _4 = offset, out, len, as sdcc's large model passes them;
;	register bank 0 selected
; out:	state, or out; no secret stays elsewhere
; R0 to R7, A, B, DPTR, PSW clobbered. Stack: the return address, and __gptrget's. Internal RAM:
; none; external RAM: 10. 58 machine cycles a byte put in and 48 taken out, external RAM on both
; sides, and at most 47 for the call; 132 bytes, beside __gptrget and __gptrput.
; Constant flow: the length and the kinds of memory alone decide branches, and no address depends on
; a secret.
;
; The idea: a lane's bytes lie as the standard counts them, so that each byte goes by itself, and no
; lane takes internal RAM, which the permutation needs.

	.module	keccak_state_fast
	.globl	__gptrget, __gptrput

	.area	XSEG	(XDATA)
_ws_keccak_xor_PARM_2::
	.ds	1
_ws_keccak_xor_PARM_3::
	.ds	3
_ws_keccak_xor_PARM_4::
	.ds	1
_ws_keccak_extract_PARM_2::
	.ds	1
_ws_keccak_extract_PARM_3::
	.ds	3
_ws_keccak_extract_PARM_4::
	.ds	1

; R5, R6, R4 = the state's byte at the offset, R2, R3, R0 = the other pointer, A and R7 = the
; length, of parameters in a row.
.macro	begin	parameters
	mov	r5,dpl
	mov	r6,dph
	mov	r4,b
	mov	dptr,#parameters
	movx	a,@dptr
	inc	dptr
	add	a,r5
	mov	r5,a
	clr	a
	addc	a,r6
	mov	r6,a
	.irp	register, r2, r3, r0, r7
	movx	a,@dptr
	mov	register,a
	inc	dptr
	.endm
.endm

; DPTR, B = a pointer.
.macro	load_pointer	low, high, kind
	mov	dpl,low
	mov	dph,high
	mov	b,kind
.endm

; The pointer's low and high bytes = DPTR + 1.
.macro	store_next	low, high
	inc	dptr
	mov	low,dpl
	mov	high,dph
.endm

	.area	CSEG	(CODE)
_ws_keccak_xor::
	begin	_ws_keccak_xor_PARM_2
	jz	done
xor_byte:
	load_pointer	r2, r3, r0
	lcall	__gptrget
	mov	r1,a
	store_next	r2, r3
	load_pointer	r5, r6, r4
	lcall	__gptrget
	xrl	a,r1
	lcall	__gptrput
	store_next	r5, r6
	djnz	r7,xor_byte
	sjmp	wipe

_ws_keccak_extract::
	begin	_ws_keccak_extract_PARM_2
	jz	done
extract_byte:
	load_pointer	r5, r6, r4
	lcall	__gptrget
	mov	r1,a
	store_next	r5, r6
	load_pointer	r2, r3, r0
	mov	a,r1
	lcall	__gptrput
	store_next	r2, r3
	djnz	r7,extract_byte
wipe:
	clr	a
	mov	r1,a
done:
	ret
