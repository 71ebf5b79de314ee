; AES-192 with the round keys made on the way, FIPS 197, the small variant: ws_aes192_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 18 bytes with the return address.
; 9,539 bus cycles with JSR (extended, 5) and RTS; 541 bytes of code, 797 with aes_sbox_small.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_small.inc. The six words of the key schedule are made two at a time, which is half a
; round key, so that there are three such steps in turn and not six; next says which. The columns go up here, as the
; halves do.

        .module aes192_keyed_small
        .include "aes_keyed_small.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox
        .globl  ws_aes192_half
        .globl  _ws_aes192_encrypt_block

        .area   DSEG    (PAG)
next:   .ds     2
rcon:   .ds     1
rounds: .ds     1
ws_secret_table_aes192_reduction::
        .ds     2
sum:    .ds     1

; Rows 3 to 0 of the next two words of the key schedule, at k, and of half a round key. A word of the stack, or the word
; before, is what goes into them.
        .macro  two_words k
        word    k
        sta     *ws_aes192_half - 1,x
        word    k+4
        sta     *ws_aes192_half + 3,x
        .endm

; The next half of a round key to ws_aes192_half. Clobbers A, X; H becomes 0.
        .macro  next_half
        ldhx    *next
        jsr     ,x
        .endm

; MixColumns and AddRoundKey of the column at s, with the half of the round key from k on. H is 0.
        .macro  mix_column s, k
        lda     *_ws_aes_block + s + 3
        eor     *_ws_aes_block + s
        sta     *sum
        double  ws_secret_table_aes192_reduction
        eor     *_ws_aes_block + s
        eor     *_ws_aes_block + s + 1
        eor     *_ws_aes_block + s + 2
        eor     *k + 3
        psha
        lda     *_ws_aes_block + s + 2
        eor     *_ws_aes_block + s + 3
        double  ws_secret_table_aes192_reduction
        eor     *sum
        eor     *_ws_aes_block + s + 1
        eor     *k + 2
        psha
        lda     *_ws_aes_block + s + 1
        eor     *_ws_aes_block + s + 2
        double  ws_secret_table_aes192_reduction
        eor     *sum
        eor     *_ws_aes_block + s + 2
        eor     *k + 1
        psha
        lda     *_ws_aes_block + s
        eor     *_ws_aes_block + s + 1
        double  ws_secret_table_aes192_reduction
        eor     *_ws_aes_block + s + 1
        eor     *_ws_aes_block + s + 2
        eor     *_ws_aes_block + s + 3
        eor     *k
        psha
        .endm

        .area   CSEG    (CODE)
_ws_aes192_encrypt_block::
        ldhx    #0x010c                 ; the first round constant, twelve rounds
        sthx    *rcon
        ldhx    #ws_aes192_words_4_5
        sthx    *next
        ldhx    #0x001b
        sthx    *ws_secret_table_aes192_reduction ; 0 and 0x1b
        clrx
1$:     lda     *_ws_aes_block + 3,x
        eor     *_ws_aes_key + 3,x
        psha
        lda     *_ws_aes_block + 2,x
        eor     *_ws_aes_key + 2,x
        psha
        lda     *_ws_aes_block + 1,x
        eor     *_ws_aes_key + 1,x
        psha
        lda     *_ws_aes_block,x
        eor     *_ws_aes_key,x
        psha
        aix     #4
        cpx     #16
        bne     1$
        ldx     #8
2$:     lda     *_ws_aes_key + 15,x     ; words 4 and 5 such that their step gives them as they are
        eor     *_ws_aes_key + 11,x
        sta     *_ws_aes_key + 15,x
        dbnzx   2$

round:  ldhx    #_ws_secret_table_aes_sbox
        substitute_column _ws_aes_block, 12, 9, 6, 3
        substitute_column _ws_aes_block, 8, 5, 2, 15
        substitute_column _ws_aes_block, 4, 1, 14, 11
        substitute_column _ws_aes_block, 0, 13, 10, 7
        dbnz    *rounds, mix

        next_half
        ldx     #8
3$:     lda     *_ws_aes_block - 1,x
        eor     *ws_aes192_half - 1,x
        sta     *_ws_aes_block - 1,x
        pshx                            ; over what is left of the state on the stack
        dbnzx   3$
        next_half
        ldx     #8
4$:     lda     *_ws_aes_block + 7,x
        eor     *ws_aes192_half - 1,x
        sta     *_ws_aes_block + 7,x
        pshx
        dbnzx   4$
        ais     #16
        clr     *sum
        rts

mix:    next_half
        mix_column 0, ws_aes192_half
        mix_column 4, ws_aes192_half+4
        next_half
        mix_column 8, ws_aes192_half
        mix_column 12, ws_aes192_half+4
        jmp     round

ws_aes192_words_0_1::
        ldhx    #_ws_secret_table_aes_sbox
        ldx     *_ws_aes_key + 21
        lda     ,x
        eor     *rcon
        psha
        push_substituted _ws_aes_key+22
        push_substituted _ws_aes_key+23
        push_substituted _ws_aes_key+20
        lsl     *rcon                   ; the last of eight is 0x80
        ldhx    #ws_aes192_words_2_3
        sthx    *next
        ldhx    #4
5$:     pula
        two_words _ws_aes_key
        dbnzx   5$
        rts

ws_aes192_words_2_3::
        ldhx    #ws_aes192_words_4_5
        sthx    *next
        ldhx    #4
6$:     lda     *_ws_aes_key + 3,x
        two_words _ws_aes_key+8
        dbnzx   6$
        rts

ws_aes192_words_4_5::
        ldhx    #ws_aes192_words_0_1
        sthx    *next
        ldhx    #4
7$:     lda     *_ws_aes_key + 11,x
        two_words _ws_aes_key+16
        dbnzx   7$
        rts
