; AES-192 with the round keys made on the way, FIPS 197, the fast variant: ws_aes192_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 18 bytes with the return address.
; 8,149 bus cycles with JSR (extended, 5) and RTS; 572 bytes of code, 1,084 with aes_sbox_fast.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_fast.inc. The six words of the key schedule are made two at a time, which is half a
; round key, so that there are three such steps in turn and not six; next says which. The columns go up here, as the
; halves do.

        .module aes192_keyed_fast
        .include "aes_keyed_fast.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox, ws_secret_table_aes_double
        .globl  ws_aes192_half
        .globl  _ws_aes192_encrypt_block

        .area   DSEG    (PAG)
next:   .ds     2
rcon:   .ds     1
rounds: .ds     1
pair:   .ds     1
triple: .ds     1

; Row r of the next two words of the key schedule, at k, from A on; they are the next half of a round key.
        .macro  two_words k, r
        word    k, r
        sta     *ws_aes192_half + r
        word    k+4, r
        sta     *ws_aes192_half + 4 + r
        .endm

; The next half of a round key to ws_aes192_half. Clobbers A, H, X.
        .macro  next_half
        ldhx    *next
        jsr     ,x
        .endm

        .area   CSEG    (CODE)
_ws_aes192_encrypt_block::
        ldhx    #0x010c                 ; the first round constant, twelve rounds
        sthx    *rcon
        ldhx    #ws_aes192_words_4_5
        sthx    *next
        ldhx    #0
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
        ldhx    #8
3$:     lda     *_ws_aes_block - 1,x
        eor     *ws_aes192_half - 1,x
        sta     *_ws_aes_block - 1,x
        pshx                            ; over what is left of the state on the stack
        dbnzx   3$
        next_half
        ldhx    #8
4$:     lda     *_ws_aes_block + 7,x
        eor     *ws_aes192_half - 1,x
        sta     *_ws_aes_block + 7,x
        pshx
        dbnzx   4$
        ais     #16
        clr     *pair
        clr     *triple
        rts

mix:    next_half
        ldhx    #ws_secret_table_aes_double
        mix_column _ws_aes_block, ws_aes192_half, pair, triple
        mix_column _ws_aes_block+4, ws_aes192_half+4, pair, triple
        next_half
        ldhx    #ws_secret_table_aes_double
        mix_column _ws_aes_block+8, ws_aes192_half, pair, triple
        mix_column _ws_aes_block+12, ws_aes192_half+4, pair, triple
        jmp     round

ws_aes192_words_0_1::
        ldhx    #_ws_secret_table_aes_sbox
        ldx     *_ws_aes_key + 21
        lda     ,x
        eor     *rcon
        lsl     *rcon                   ; the last of eight is 0x80
        two_words _ws_aes_key, 0
        ldx     *_ws_aes_key + 22
        lda     ,x
        two_words _ws_aes_key, 1
        ldx     *_ws_aes_key + 23
        lda     ,x
        two_words _ws_aes_key, 2
        ldx     *_ws_aes_key + 20
        lda     ,x
        two_words _ws_aes_key, 3
        ldhx    #ws_aes192_words_2_3
        sthx    *next
        rts

ws_aes192_words_2_3::
        lda     *_ws_aes_key + 4
        two_words _ws_aes_key+8, 0
        lda     *_ws_aes_key + 5
        two_words _ws_aes_key+8, 1
        lda     *_ws_aes_key + 6
        two_words _ws_aes_key+8, 2
        lda     *_ws_aes_key + 7
        two_words _ws_aes_key+8, 3
        ldhx    #ws_aes192_words_4_5
        sthx    *next
        rts

ws_aes192_words_4_5::
        lda     *_ws_aes_key + 12
        two_words _ws_aes_key+16, 0
        lda     *_ws_aes_key + 13
        two_words _ws_aes_key+16, 1
        lda     *_ws_aes_key + 14
        two_words _ws_aes_key+16, 2
        lda     *_ws_aes_key + 15
        two_words _ws_aes_key+16, 3
        ldhx    #ws_aes192_words_0_1
        sthx    *next
        rts
