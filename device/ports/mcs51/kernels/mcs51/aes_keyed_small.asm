; Block and key of AES with the round keys made on the way, crypto/aes_keyed.h, at fixed addresses of internal RAM:
;
;	ws_aes_key	0x0c to 0x2b
;	ws_aes_block	0x30 to 0x3f
;
; The kernels write these addresses as k and s. Between the two are four bytes that C may have for its bits.

	.module	aes_keyed_small
	.area	AES_KEYED (ABS,DATA)
	.org	0x0c
_ws_aes_key::
	.ds	32
	.org	0x30
_ws_aes_block::
	.ds	16
