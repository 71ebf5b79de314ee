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
