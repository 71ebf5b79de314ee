; AES-256 with the round keys made on the way, FIPS 197, the small variant: ws_aes256_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 22 bytes with the return address.
; 12,259 bus cycles with JSR (extended, 5) and RTS; 306 bytes of code, 562 with aes_sbox_small.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_small.inc. The halves of the key schedule take turns; what each gives goes to
; round_key as well, where the one loop for MixColumns finds it.

        .module aes256_keyed_small
        .include "aes_keyed_small.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox
        .globl  _ws_aes256_encrypt_block

        .area   DSEG    (PAG)
round_key:
        .ds     16
rcon:   .ds     1
rounds: .ds     1
ws_secret_table_aes256_reduction::
        .ds     2
sum:    .ds     1

; Row x - 1 of the next four words of the key schedule, at k, from A on; they are the next round key.
        .macro  four_words k
        word    k
        sta     *round_key - 1,x
        word    k+4
        sta     *round_key + 3,x
        word    k+8
        sta     *round_key + 7,x
        word    k+12
        sta     *round_key + 11,x
        .endm

        .area   CSEG    (CODE)
_ws_aes256_encrypt_block::
        ldhx    #0x010e                 ; the first round constant, fourteen rounds
        sthx    *rcon
        ldhx    #16
1$:     lda     *_ws_aes_block - 1,x
        eor     *_ws_aes_key - 1,x
        psha
        lda     *_ws_aes_key + 15,x     ; the second half of the key is the first round key
        sta     *round_key - 1,x
        dbnzx   1$
        ldx     #0x1b
        sthx    *ws_secret_table_aes256_reduction ; 0 and 0x1b

round:  ldhx    #_ws_secret_table_aes_sbox
        substitute_column _ws_aes_block, 0, 13, 10, 7
        substitute_column _ws_aes_block, 4, 1, 14, 11
        substitute_column _ws_aes_block, 8, 5, 2, 15
        substitute_column _ws_aes_block, 12, 9, 6, 3
        dbnz    *rounds, mix

        ldhx    #16
2$:     lda     *_ws_aes_block - 1,x
        eor     *round_key - 1,x
        sta     *_ws_aes_block - 1,x
        clr     *round_key - 1,x
        pshx                            ; over what is left of the state on the stack
        dbnzx   2$
        pshx                            ; and over the key schedule's four bytes beyond
        pshx
        pshx
        pshx
        ais     #20
        clr     *sum
        rts

ws_aes256_double_and_add::
        double_keeping_x ws_secret_table_aes256_reduction
        eor     *sum
        rts

mix:    ldhx    #12
3$:     lda     *_ws_aes_block + 3,x
        eor     *_ws_aes_block,x
        sta     *sum
        double_keeping_x ws_secret_table_aes256_reduction
        eor     *_ws_aes_block,x
        eor     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        eor     *round_key + 3,x
        psha
        lda     *_ws_aes_block + 2,x
        eor     *_ws_aes_block + 3,x
        bsr     ws_aes256_double_and_add
        eor     *_ws_aes_block + 1,x
        eor     *round_key + 2,x
        psha
        lda     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        bsr     ws_aes256_double_and_add
        eor     *_ws_aes_block + 2,x
        eor     *round_key + 1,x
        psha
        lda     *_ws_aes_block,x
        eor     *_ws_aes_block + 1,x
        double_keeping_x ws_secret_table_aes256_reduction
        eor     *_ws_aes_block + 1,x
        eor     *_ws_aes_block + 2,x
        eor     *_ws_aes_block + 3,x
        eor     *round_key,x
        psha
        aix     #-4
        tstx
        bpl     3$

        ldhx    #_ws_secret_table_aes_sbox
        brset   #0, *rounds, even
        push_substituted _ws_aes_key+12
        push_substituted _ws_aes_key+13
        push_substituted _ws_aes_key+14
        push_substituted _ws_aes_key+15
        ldhx    #4
4$:     pula
        four_words _ws_aes_key+16
        dbnzx   4$
        jmp     round

even:   ldx     *_ws_aes_key + 29
        lda     ,x
        eor     *rcon
        psha
        push_substituted _ws_aes_key+30
        push_substituted _ws_aes_key+31
        push_substituted _ws_aes_key+28
        ldhx    #4
5$:     pula
        four_words _ws_aes_key
        dbnzx   5$
        lsl     *rcon                   ; the last of seven is 0x40
        jmp     round
