; SHA-256's compression function, FIPS 180-4 section 6.2.2, the fast variant: ws_sha256_blocks of crypto/sha256.h.
;
; in:	DPTR and B = state; in external RAM _ws_sha256_blocks_PARM_2, _3 = data, blocks, as sdcc's large model passes them; register
;	bank 0 selected
; out:	state; P2 = the page of sdcc's paged data; no secret stays elsewhere
; R0 to R7, A, B, DPTR, PSW clobbered. Stack: the return address, and __gptrget's where data or state are not in external RAM.
; Internal RAM: 40 bytes that sdcc overlays with variables of other functions that call none; external RAM: 72, 64 of them paged.
; 26,857 machine cycles a block and 646 for the call, from LCALL to RET inclusive, all pointers to external RAM; 3,948 bytes with the
; constants, beside __gptrget and __gptrput.
; Constant flow: the number of blocks and the kinds of memory alone decide branches, and no address depends on a secret.
;
; Eight rounds are written out, after which each working variable is where it was.

	.module	sha256_blocks_fast
	.include "sha256_blocks.inc"

	begin
rounds:
	round	va, vb, vd, ve, vf, vg, vh
	round	vh, va, vc, vd, ve, vf, vg
	round	vg, vh, vb, vc, vd, ve, vf
	round	vf, vg, va, vb, vc, vd, ve
	round	ve, vf, vh, va, vb, vc, vd
	round	vd, ve, vg, vh, va, vb, vc
	round	vc, vd, vf, vg, vh, va, vb
	round	vb, vc, ve, vf, vg, vh, va
	cjne	r0,#64,again
	sjmp	enough
again:
	ljmp	rounds
enough:
	end
