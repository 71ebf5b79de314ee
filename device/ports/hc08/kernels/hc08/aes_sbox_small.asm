; The S-box of AES for the small kernels of the 68HC08, that of crypto/aes_sbox.c.
;
; It begins at a page, so that with the page in H a look-up is LDA ,X: one byte, two bus cycles. The linker cannot
; align, so it has a fixed place, the end of the flash of targets/mc68hc08.toml. 256 bytes.

        .module aes_sbox_small
        .globl  _ws_secret_table_aes_sbox

        .area   AESTAB  (ABS,CODE)
        .org    0xfb00
        .include "aes_sbox.inc"
