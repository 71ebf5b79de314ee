; AES-128 with the round keys made on the way, FIPS 197, the fast variant: ws_aes128_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 18 bytes with the return address.
; 5,753 bus cycles with JSR (extended, 5) and RTS; 396 bytes of code, 10 of constants, 918 with aes_sbox_fast.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_fast.inc. A row of the next round key is a chain in A: each byte that is made is what
; the next one needs.

        .module aes128_keyed_fast
        .include "aes_keyed_fast.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox, ws_secret_table_aes_double
        .globl  ws_aes128_rounds, ws_aes128_pair, ws_aes128_triple
        .globl  _ws_aes128_encrypt_block

; Row r of the first three words of the next round key, from A = SubWord(RotWord(w[3])).
        .macro  three_words r
        word    _ws_aes_key, r
        word    _ws_aes_key+4, r
        word    _ws_aes_key+8, r
        .endm

        .area   CSEG    (CODE)
_ws_aes128_encrypt_block::
        mov     #10, *ws_aes128_rounds
        ldhx    #16
1$:     lda     *_ws_aes_block - 1,x
        eor     *_ws_aes_key - 1,x
        psha
        decx
        lda     *_ws_aes_block - 1,x
        eor     *_ws_aes_key - 1,x
        psha
        dbnzx   1$

round:  ldhx    #_ws_secret_table_aes_sbox
        substitute_column _ws_aes_block, 0, 13, 10, 7
        substitute_column _ws_aes_block, 4, 1, 14, 11
        substitute_column _ws_aes_block, 8, 5, 2, 15
        substitute_column _ws_aes_block, 12, 9, 6, 3

        ldx     *_ws_aes_key + 13
        lda     ,x
        ldx     *ws_aes128_rounds
        eor     0xff,x                  ; the round constant, behind the page of the S-box
        three_words 0                   ; row 0 of the last word is still needed for row 3 as it was
        ldx     *_ws_aes_key + 14
        lda     ,x
        three_words 1
        word    _ws_aes_key+12, 1
        ldx     *_ws_aes_key + 15
        lda     ,x
        three_words 2
        word    _ws_aes_key+12, 2
        ldx     *_ws_aes_key + 12
        lda     *_ws_aes_key + 8
        word    _ws_aes_key+12, 0
        lda     ,x
        three_words 3
        word    _ws_aes_key+12, 3
        dbnz    *ws_aes128_rounds, mix

        ldhx    #16
2$:     lda     *_ws_aes_block - 1,x
        eor     *_ws_aes_key - 1,x
        sta     *_ws_aes_block - 1,x
        pshx                            ; over what is left of the state on the stack
        dbnzx   2$
        ais     #16
        rts

mix:    ldhx    #ws_secret_table_aes_double
        mix_column _ws_aes_block+12, _ws_aes_key+12, ws_aes128_pair, ws_aes128_triple
        mix_column _ws_aes_block+8, _ws_aes_key+8, ws_aes128_pair, ws_aes128_triple
        mix_column _ws_aes_block+4, _ws_aes_key+4, ws_aes128_pair, ws_aes128_triple
        mix_column _ws_aes_block, _ws_aes_key, ws_aes128_pair, ws_aes128_triple
        jmp     round

        .area   AESRC   (ABS,CODE)
        .org    0xfb00
; The round constants, FIPS 197 section 5.2, from the tenth to the first, behind the page of the S-box.
        .db     0x36, 0x1b, 0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01
