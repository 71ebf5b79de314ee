; The inverse S-box of AES for the small decryption of the 68HC08, that of crypto/aes_inverse_sbox.c.
;
; It begins at a page, so that with the page in H a look-up is LDA ,X: one byte, two bus cycles. The linker cannot
; align, so it has a fixed place, before that of aes_sbox_small.asm. 256 bytes.

        .module aes_inverse_sbox_small
        .globl  _ws_secret_table_aes_inverse_sbox

        .area   AESTAB  (ABS,CODE)
        .org    0xfa00
        .include "aes_inverse_sbox.inc"
