; AES-128 with the round keys made on the way, FIPS 197, the small variant: ws_aes128_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 19 bytes with the return address.
; 8,327 bus cycles with JSR (extended, 5) and RTS; 228 bytes of code, 484 with aes_sbox_small.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_small.inc. Two of the four doublings are in a subroutine: what has been
; published for this processor, 8,390 cycles (elumalai2011, from the Rijndael proposal), leaves time for two, not more.

        .module aes128_keyed_small
        .include "aes_keyed_small.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox
        .globl  ws_aes128_rcon, ws_secret_table_aes128_reduction, ws_aes128_sum
        .globl  _ws_aes128_encrypt_block

        .area   CSEG    (CODE)
_ws_aes128_encrypt_block::
        mov     #1, *ws_aes128_rcon
        ldhx    #16
1$:     lda     *_ws_aes_block - 1,x
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
        eor     *ws_aes128_rcon
        psha
        push_substituted _ws_aes_key+14
        push_substituted _ws_aes_key+15
        push_substituted _ws_aes_key+12
        ldhx    #4
2$:     pula
        word    _ws_aes_key
        word    _ws_aes_key+4
        word    _ws_aes_key+8
        word    _ws_aes_key+12
        dbnzx   2$
        ldx     *ws_aes128_rcon
        cbeqx   #0x36, last             ; the tenth

        ldx     #0x1b
        sthx    *ws_secret_table_aes128_reduction ; 0 and 0x1b
        ldx     #12
3$:     lda     *_ws_aes_block + 3,x
        eor     *_ws_aes_block,x
        sta     *ws_aes128_sum
        double_keeping_x ws_secret_table_aes128_reduction
        eor     *_ws_aes_block,x
        eor     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        eor     *_ws_aes_key + 3,x
        psha
        lda     *_ws_aes_block + 2,x
        eor     *_ws_aes_block + 3,x
        bsr     ws_aes128_double_and_add
        eor     *_ws_aes_block + 1,x
        eor     *_ws_aes_key + 2,x
        psha
        lda     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        bsr     ws_aes128_double_and_add
        eor     *_ws_aes_block + 2,x
        eor     *_ws_aes_key + 1,x
        psha
        lda     *_ws_aes_block,x
        eor     *_ws_aes_block + 1,x
        double_keeping_x ws_secret_table_aes128_reduction
        eor     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        eor     *_ws_aes_block + 3,x
        eor     *_ws_aes_key,x
        psha
        aix     #-4
        tstx
        bpl     3$
        lsl     *ws_aes128_rcon
        bcc     4$
        mov     #0x1b, *ws_aes128_rcon
4$:     jmp     round

last:   ldhx    #16
5$:     lda     *_ws_aes_block - 1,x
        eor     *_ws_aes_key - 1,x
        sta     *_ws_aes_block - 1,x
        clra                            ; over what is left of the state on the stack
        psha
        dbnzx   5$
        ais     #16
        rts

ws_aes128_double_and_add::
        double_keeping_x ws_secret_table_aes128_reduction
        eor     *ws_aes128_sum
        rts
