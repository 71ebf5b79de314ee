; AES-256 with the round keys made on the way, FIPS 197, the fast variant: ws_aes256_encrypt_block of
; crypto/aes_keyed.h.
;
; in:  _ws_aes_block = plaintext, _ws_aes_key = key
; out: _ws_aes_block = ciphertext; _ws_aes_key undefined, as secret as the key; no other secret stays, nor on the
; stack. A, H, X and flags clobbered. Stack: 18 bytes with the return address.
; 8,686 bus cycles with JSR (extended, 5) and RTS; 549 bytes of code, 1,061 with aes_sbox_fast.asm.
; Constant time: no branch depends on key or data, and a look-up takes the same time at every address.
;
; How a round goes is in aes_keyed_fast.inc. The halves of the key schedule take turns; what each gives goes to
; round_key as well, where the one code for MixColumns finds it.

        .module aes256_keyed_fast
        .include "aes_keyed_fast.inc"
        .globl  _ws_aes_block, _ws_aes_key, _ws_secret_table_aes_sbox, ws_secret_table_aes_double
        .globl  _ws_aes256_encrypt_block

        .area   DSEG    (PAG)
round_key:
        .ds     16
rcon:   .ds     1
rounds: .ds     1
pair:   .ds     1
triple: .ds     1

; Row r of the next four words of the key schedule, at k, from A on; they are the next round key.
        .macro  four_words k, r
        word    k, r
        sta     *round_key + r
        word    k+4, r
        sta     *round_key + 4 + r
        word    k+8, r
        sta     *round_key + 8 + r
        word    k+12, r
        sta     *round_key + 12 + r
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
        ldhx    #_ws_secret_table_aes_sbox

round:  substitute_column _ws_aes_block, 0, 13, 10, 7
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
        ais     #16
        clr     *pair
        clr     *triple
        rts

mix:    ldhx    #ws_secret_table_aes_double
        mix_column _ws_aes_block+12, round_key+12, pair, triple
        mix_column _ws_aes_block+8, round_key+8, pair, triple
        mix_column _ws_aes_block+4, round_key+4, pair, triple
        mix_column _ws_aes_block, round_key, pair, triple

        ldhx    #_ws_secret_table_aes_sbox
        brset   #0, *rounds, even
        ldx     *_ws_aes_key + 12
        lda     ,x
        four_words _ws_aes_key+16, 0
        ldx     *_ws_aes_key + 13
        lda     ,x
        four_words _ws_aes_key+16, 1
        ldx     *_ws_aes_key + 14
        lda     ,x
        four_words _ws_aes_key+16, 2
        ldx     *_ws_aes_key + 15
        lda     ,x
        four_words _ws_aes_key+16, 3
        jmp     round

even:   ldx     *_ws_aes_key + 29
        lda     ,x
        eor     *rcon
        lsl     *rcon                   ; the last of seven is 0x40
        four_words _ws_aes_key, 0
        ldx     *_ws_aes_key + 30
        lda     ,x
        four_words _ws_aes_key, 1
        ldx     *_ws_aes_key + 31
        lda     ,x
        four_words _ws_aes_key, 2
        ldx     *_ws_aes_key + 28
        lda     ,x
        four_words _ws_aes_key, 3
        jmp     round
