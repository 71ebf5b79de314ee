; SHA-256's compression function, FIPS 180-4 section 6.2.2, the small variant: ws_sha256_blocks of crypto/sha256.h.
;
; in:	DPTR and B = state; in external RAM _ws_sha256_blocks_PARM_2, _3 = data, blocks, as sdcc's large model passes them; register
;	bank 0 selected
; out:	state; P2 = the page of sdcc's paged data; no secret stays elsewhere
; R0 to R7, A, B, DPTR, PSW clobbered. Stack: the return address, and __gptrget's where data or state are not in external RAM.
; Internal RAM: 40 bytes that sdcc overlays with variables of other functions that call none; external RAM: 72, 64 of them paged.
; 29,385 machine cycles a block and 646 for the call, from LCALL to RET inclusive, all pointers to external RAM; 1,283 bytes with the
; constants, beside __gptrget and __gptrput.
; Constant flow: the number of blocks and the kinds of memory alone decide branches, and no address depends on a secret.
;
; One round is written out, behind which the working variables move on by a place.

	.module	sha256_blocks_small
	.include "sha256_blocks.inc"

	begin
rounds:
	round	va, vb, vd, ve, vf, vg, vh
	.irp	i, 0, 1, 2, 3
	mov	a,vh+i			; what is in h becomes a, a becomes b, and so on
	xch	a,va+i
	xch	a,vb+i
	xch	a,vc+i
	xch	a,vd+i
	xch	a,ve+i
	xch	a,vf+i
	xch	a,vg+i
	mov	vh+i,a
	.endm
	cjne	r0,#64,again
	sjmp	enough
again:
	ljmp	rounds
enough:
	end
