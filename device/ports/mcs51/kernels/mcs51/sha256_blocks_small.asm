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
