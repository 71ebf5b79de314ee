	.module	ascon_permutation_fast
	.include "ascon_permutation.inc"
