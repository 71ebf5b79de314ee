; The permutation Keccak-f[1600], FIPS 202 section 3, the fast variant: ws_keccak_permute of
; crypto/keccak_permutation.h.
;
; in:	DPTR and B = state; register bank 0 selected
; out:	state; P2 = the page of sdcc's paged data; no secret stays elsewhere
; R0 to R2, R4 to R7, A, B, DPTR, PSW clobbered. Stack: 5 bytes with the return address, and
; __gptrget's where state is not in external RAM.
; Internal RAM: 80 bytes that sdcc overlays with variables of other functions that call none;
; external RAM: 711, of which the two pages are used that begin in the first 256. 104,744 machine
; cycles from LCALL to RET inclusive, state in external RAM; 5,374 bytes with the constants, beside
; __gptrget and __gptrput.
; Meanwhile P2 is not that page: no interrupt routine may come that has paged variables or moves P2
; without putting it back. Our programs for the 8051 have no interrupt routine.
; Constant flow: the kind of memory alone decides branches, and no address depends on a secret.
;
; The state is in a page of external RAM, where R0 with P2 reaches it without DPTR; a round makes it
; anew in the other page, a row of five lanes after the other. Theta comes to a lane as it is read,
; and rho as it is written to internal RAM. Rotations by whole bytes are a matter of names, as pi
; is. By a bit it takes RLC or RRC between the two, by four bits SWAP, and XCHD, which exchanges the
; lower nibble for that of the byte before; by two, three and five bits the lane is rotated once
; more by a bit where it is.

	.module	keccak_permutation_fast
	.globl	__gptrget, __gptrput

p2	=	0xa0
ar7	=	0x07			; R7 of register bank 0, to which R1 points

	.area	OSEG	(OVR,DATA)
d:	.ds	40			; what theta adds to the lanes of each column
row:	.ds	40			; the parities of the columns, or a row
secrets	=	80

	.area	PSEG	(PAG,XDATA)
paged:

	.area	XSEG	(XDATA)
pages:	.ds	711

; A = byte i of a lane, at R0, with theta.
.macro	take	lane, i
	movx	a,@r0
	xrl	a,d+8*(lane%5)+i
.endm

; Each of these: lane to the row's lane x, rotated left by 8 k bits and what the name says.
.macro	straight	lane, x, k
	mov	r0,#8*lane
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	take	lane, i
	mov	row+8*x+((i+k)&7),a
	inc	r0
	.endm
.endm

.macro	left	lane, x, k
	mov	r0,#8*lane+7
	take	lane, 7
	rlc	a
	mov	r0,#8*lane
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	take	lane, i
	rlc	a
	mov	row+8*x+((i+k)&7),a
	inc	r0
	.endm
.endm

.macro	right	lane, x, k
	mov	r0,#8*lane
	take	lane, 0
	rrc	a
	mov	r0,#8*lane+7
	.irp	i, 7, 6, 5, 4, 3, 2, 1, 0
	take	lane, i
	rrc	a
	mov	row+8*x+((i+k)&7),a
	dec	r0
	.endm
.endm

.macro	left_4	lane, x, k
	mov	r0,#8*lane+7
	take	lane, 7
	swap	a
	mov	r7,a
	mov	r0,#8*lane
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	take	lane, i
	swap	a
	xchd	a,@r1
	mov	row+8*x+((i+k)&7),a
	inc	r0
	.endm
.endm

; The row's lane x rotated by a bit.
.macro	left_again	x
	mov	a,row+8*x+7
	rlc	a
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	mov	a,row+8*x+i
	rlc	a
	mov	row+8*x+i,a
	.endm
.endm

.macro	right_again	x
	mov	a,row+8*x
	rrc	a
	.irp	i, 7, 6, 5, 4, 3, 2, 1, 0
	mov	a,row+8*x+i
	rrc	a
	mov	row+8*x+i,a
	.endm
.endm

.macro	left_2	lane, x, k
	left	lane, x, k
	left_again	x
.endm

.macro	right_2	lane, x, k
	right	lane, x, k
	right_again	x
.endm

.macro	left_3	lane, x, k
	left_4	lane, x, k
	right_again	x
.endm

.macro	left_5	lane, x, k
	left_4	lane, x, k
	left_again	x
.endm

; A lane of the new state, to R0 on.
.macro	chi_lane	b0, b1, b2
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	mov	a,b1+i
	cpl	a
	anl	a,b2+i
	xrl	a,b0+i
	movx	@r0,a
	inc	r0
	.endm
.endm

; Row y of the new state. 285 cycles.
.macro	chi	y
	mov	p2,r5
	mov	r0,#40*y
	chi_lane	row, row+8, row+16
	chi_lane	row+8, row+16, row+24
	chi_lane	row+16, row+24, row+32
	chi_lane	row+24, row+32, row
	chi_lane	row+32, row, row+8
	mov	p2,r6
.endm

; What theta adds to column x, of the parities beside it.
.macro	difference	x, left, right
	mov	a,row+8*right+7
	rlc	a
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	mov	a,row+8*right+i
	rlc	a
	xrl	a,row+8*left+i
	mov	d+8*x+i,a
	.endm
.endm

	.area	CSEG	(CODE)
_ws_keccak_permute::
	push	dpl
	push	dph
	push	b
	mov	r6,#((pages+255)>>8)
	mov	r5,#((pages+511)>>8)
	mov	p2,r6
	mov	r0,#0
	mov	a,b
	jnz	slow_load
quick_load:
	.irp	i, 0, 1, 2, 3
	movx	a,@dptr
	movx	@r0,a
	inc	dptr
	inc	r0
	.endm
	cjne	r0,#200,quick_load
	sjmp	loaded
slow_load:
	lcall	__gptrget
	movx	@r0,a
	inc	dptr
	inc	r0
	cjne	r0,#200,slow_load
loaded:
	mov	dptr,#constants
	mov	r4,#24
	mov	r1,#ar7

round:
	mov	r0,#0			; the parities
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
	movx	a,@r0
	mov	row+i,a
	inc	r0
	.endm
	.rept	4
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
	movx	a,@r0
	xrl	row+i,a
	inc	r0
	.endm
	.endm
	difference	0, 4, 1
	difference	1, 0, 2
	difference	2, 1, 3
	difference	3, 2, 4
	difference	4, 3, 0

	straight	0, 0, 0
	left_4	6, 1, 5
	left_3	12, 2, 5
	left_5	18, 3, 2
	right_2	24, 4, 2
	chi	0
	mov	p2,r5			; iota, whose other bytes are 0
	.irp	i, 0, 1, 3, 7
	clr	a
	movc	a,@a+dptr
	mov	r2,a
	inc	dptr
	mov	r0,#i
	movx	a,@r0
	xrl	a,r2
	movx	@r0,a
	.endm
	mov	p2,r6
	left_4	3, 0, 3
	left_4	9, 1, 2
	left_3	10, 2, 0
	left_5	16, 3, 5
	left_5	22, 4, 7
	chi	1
	left	1, 0, 0
	right_2	7, 1, 1
	left	13, 2, 3
	straight	19, 3, 1
	left_2	20, 4, 2
	chi	2
	left_3	4, 0, 3
	left_4	5, 1, 4
	left_2	11, 2, 1
	right	17, 3, 2
	straight	23, 4, 7
	chi	3
	right_2	2, 0, 0
	right	8, 1, 7
	right	14, 2, 5
	left	15, 3, 5
	left_2	21, 4, 0
	chi	4
	mov	a,r5			; what is new is the state now
	xch	a,r6
	mov	r5,a
	mov	p2,r6
	djnz	r4,again
	sjmp	store
again:
	ljmp	round

store:
	pop	b
	pop	dph
	pop	dpl
	mov	r0,#0
	mov	a,b
	jnz	slow_store
quick_store:
	.irp	i, 0, 1, 2, 3
	movx	a,@r0
	movx	@dptr,a
	inc	dptr
	clr	a
	movx	@r0,a
	inc	r0
	.endm
	cjne	r0,#200,quick_store
	sjmp	wipe
slow_store:
	movx	a,@r0
	lcall	__gptrput
	inc	dptr
	clr	a
	movx	@r0,a
	inc	r0
	cjne	r0,#200,slow_store
wipe:
	mov	p2,r5
	mov	r0,#0
wipe_page:
	.irp	i, 0, 1, 2, 3
	movx	@r0,a
	inc	r0
	.endm
	cjne	r0,#200,wipe_page
	mov	p2,#(paged>>8)
	mov	r0,#d
wipe_internal:
	mov	@r0,a
	inc	r0
	cjne	r0,#d+secrets,wipe_internal
	mov	r2,a
	mov	r7,a
	ret

; FIPS 202 section 3.2.5: bytes 0, 1, 3 and 7 of each round's.
	.area	CONST	(CODE)
constants:
	.db	0x01, 0x00, 0x00, 0x00, 0x82, 0x80, 0x00, 0x00, 0x8a, 0x80, 0x00, 0x80, 0x00, 0x80, 0x80, 0x80
	.db	0x8b, 0x80, 0x00, 0x00, 0x01, 0x00, 0x80, 0x00, 0x81, 0x80, 0x80, 0x80, 0x09, 0x80, 0x00, 0x80
	.db	0x8a, 0x00, 0x00, 0x00, 0x88, 0x00, 0x00, 0x00, 0x09, 0x80, 0x80, 0x00, 0x0a, 0x00, 0x80, 0x00
	.db	0x8b, 0x80, 0x80, 0x00, 0x8b, 0x00, 0x00, 0x80, 0x89, 0x80, 0x00, 0x80, 0x03, 0x80, 0x00, 0x80
	.db	0x02, 0x80, 0x00, 0x80, 0x80, 0x00, 0x00, 0x80, 0x0a, 0x80, 0x00, 0x00, 0x0a, 0x00, 0x80, 0x80
	.db	0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x80, 0x01, 0x00, 0x80, 0x00, 0x08, 0x80, 0x80, 0x80
