	.module	ascon_permutation_small
	.include "ascon_permutation.inc"
