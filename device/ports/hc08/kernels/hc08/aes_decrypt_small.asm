; AES decryption with the round keys given, FIPS 197, small: ws_aes_decrypt of crypto/aes.h.
;
; in:  X:A = round_keys; rounds, in, out as sdcc passes them, in variables of their own
; out: 16 bytes at out, which may be in; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 41 bytes.
; With JSR (extended, 5) and RTS 13,122, 15,680 and 18,238 bus cycles for 10, 12 and 14 rounds, four fewer where the
; last round key lies in the page of the first; 320 bytes of code, 576 with aes_inverse_sbox_small.asm.
; Constant time for a given number of rounds: no branch depends on key or data, and a look-up takes the same time at
; every address.
;
; As in aes_encrypt_small.asm; the round key is added before InvMixColumns, which is MixColumns after adding 4 (s0 + s2)
; to s0 and s2 and 4 (s1 + s3) to s1 and s3 (Daemen and Rijmen, "The Design of Rijndael", section 4.1.3).

        .module aes_decrypt_small
        .include "aes_keyed_small.inc"
        .globl  _ws_secret_table_aes_inverse_sbox
        .globl  _ws_aes_decrypt, _ws_aes_decrypt_PARM_2, _ws_aes_decrypt_PARM_3, _ws_aes_decrypt_PARM_4

        .area   DSEG    (PAG)
; rounds, in, out: high byte first. The place of in becomes that of the next round key.
_ws_aes_decrypt_PARM_2:
        .ds     2
_ws_aes_decrypt_PARM_3:
        .ds     2
_ws_aes_decrypt_PARM_4:
        .ds     2
ws_secret_table_aes_decrypt_reduction::
        .ds     2
state:  .ds     16
round_key:
        .ds     16
sum:    .ds     1

        .area   CSEG    (CODE)
_ws_aes_decrypt:
        psha
        pshx
        jsr     ws_aes_decrypt_next
        ldhx    #16
1$:     lda     *round_key - 1,x
        sta     *state - 1,x
        dbnzx   1$
        pulx
        stx     *_ws_aes_decrypt_PARM_3
        lda     *_ws_aes_decrypt_PARM_2 + 1
        nsa
        pulx
        stx     *_ws_aes_decrypt_PARM_3 + 1
        add     *_ws_aes_decrypt_PARM_3 + 1
        sta     *_ws_aes_decrypt_PARM_3 + 1
        bcc     2$                      ; the last round key is 16 rounds bytes on
        inc     *_ws_aes_decrypt_PARM_3
2$:     ldhx    #0x001b
        sthx    *ws_secret_table_aes_decrypt_reduction ; 0 and 0x1b
        bsr     ws_aes_decrypt_add_next
push:   ldhx    #16
3$:     lda     *state - 1,x
        psha
        dbnzx   3$
        tst     *_ws_aes_decrypt_PARM_2 + 1
        beq     finish

round:  ldhx    #_ws_secret_table_aes_inverse_sbox
        substitute_column state, 0, 5, 10, 15
        substitute_column state, 4, 9, 14, 3
        substitute_column state, 8, 13, 2, 7
        substitute_column state, 12, 1, 6, 11
        bsr     ws_aes_decrypt_add_next
        dbnz    *_ws_aes_decrypt_PARM_2+1, unmix
        bra     push

; Adds the round key, and the one before it is next.
ws_aes_decrypt_add_next::
        bsr     ws_aes_decrypt_next
        ldhx    #16
4$:     lda     *state - 1,x
        eor     *round_key - 1,x
        sta     *state - 1,x
        dbnzx   4$
        rts

; 16 bytes to round_key, from where the next round key is.
ws_aes_decrypt_next::
        ldhx    *_ws_aes_decrypt_PARM_3
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     ,x+,*round_key + i
        .endm
        aix     #-32
        sthx    *_ws_aes_decrypt_PARM_3
        rts

finish: ldhx    *_ws_aes_decrypt_PARM_4
        mov     #16, *sum
5$:     pula
        sta     ,x
        aix     #1
        dbnz    *sum, 5$
        ldhx    #16
6$:     clr     *state - 1,x
        clr     *round_key - 1,x
        pshx
        dbnzx   6$
        ais     #16
        rts

; Adds four times the sum of two rows of the column, at X and two on, to both. H is 0.
ws_aes_decrypt_add_quadruple::
        lda     *state,x
        eor     *state + 2,x
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        sta     *sum
        eor     *state,x
        sta     *state,x
        lda     *state + 2,x
        eor     *sum
        sta     *state + 2,x
        rts

unmix:  ldhx    #12
7$:     bsr     ws_aes_decrypt_add_quadruple
        incx
        bsr     ws_aes_decrypt_add_quadruple
        decx
        lda     *state + 3,x
        eor     *state,x
        sta     *sum
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        eor     *state,x
        eor     *state + 1,x
        eor     *state + 2,x
        psha
        lda     *state + 2,x
        eor     *state + 3,x
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        eor     *sum
        eor     *state + 1,x
        psha
        lda     *state + 1,x
        eor     *state + 2,x
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        eor     *sum
        eor     *state + 2,x
        psha
        lda     *state,x
        eor     *state + 1,x
        double_keeping_x ws_secret_table_aes_decrypt_reduction
        eor     *state + 1,x
        eor     *state + 2,x
        eor     *state + 3,x
        psha
        aix     #-4
        tstx
        bpl     7$
        jmp     round
