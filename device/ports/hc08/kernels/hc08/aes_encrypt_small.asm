; AES encryption with the round keys given, FIPS 197, small: ws_aes_encrypt of crypto/aes.h.
;
; in:  X:A = round_keys; rounds, in, out as sdcc passes them, in variables of their own
; out: 16 bytes at out, which may be in; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 41 bytes.
; With JSR (extended, 5) and RTS 7,556, 8,952 and 10,348 bus cycles for 10, 12 and 14 rounds; 264 bytes of code, 520
; with aes_sbox_small.asm.
; Constant time for a given number of rounds: no branch depends on key or data, and a look-up takes the same time at
; every address.
;
; How a round goes is in aes_keyed_small.inc. The round key, which may be anywhere, is moved to page zero, because H:X
; is busy with the columns where it is added; the routine that moves it brings the block, too.

        .module aes_encrypt_small
        .include "aes_keyed_small.inc"
        .globl  _ws_secret_table_aes_sbox
        .globl  _ws_aes_encrypt, _ws_aes_encrypt_PARM_2, _ws_aes_encrypt_PARM_3, _ws_aes_encrypt_PARM_4

        .area   DSEG    (PAG)
; rounds, in, out: high byte first. The place of in becomes that of the next round key.
_ws_aes_encrypt_PARM_2:
        .ds     2
_ws_aes_encrypt_PARM_3:
        .ds     2
_ws_aes_encrypt_PARM_4:
        .ds     2
ws_secret_table_aes_encrypt_reduction::
        .ds     2
state:  .ds     16
round_key:
        .ds     16
sum:    .ds     1

        .area   CSEG    (CODE)
_ws_aes_encrypt:
        psha
        pshx
        bsr     ws_aes_encrypt_next
        ldhx    #16
1$:     lda     *round_key - 1,x
        sta     *state - 1,x
        dbnzx   1$
        pulx
        stx     *_ws_aes_encrypt_PARM_3
        pulx
        stx     *_ws_aes_encrypt_PARM_3 + 1
        ldx     #0x1b
        sthx    *ws_secret_table_aes_encrypt_reduction ; 0 and 0x1b
        bsr     ws_aes_encrypt_next
add:    ldhx    #16
2$:     lda     *state - 1,x
        eor     *round_key - 1,x
        psha
        dbnzx   2$
        tst     *_ws_aes_encrypt_PARM_2 + 1
        beq     finish

round:  ldhx    #_ws_secret_table_aes_sbox
        substitute_column state, 0, 13, 10, 7
        substitute_column state, 4, 1, 14, 11
        substitute_column state, 8, 5, 2, 15
        substitute_column state, 12, 9, 6, 3
        bsr     ws_aes_encrypt_next
        dbnz    *_ws_aes_encrypt_PARM_2+1, mix
        bra     add

; 16 bytes to round_key, from where the next round key is.
ws_aes_encrypt_next::
        ldhx    *_ws_aes_encrypt_PARM_3
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     ,x+,*round_key + i
        .endm
        sthx    *_ws_aes_encrypt_PARM_3
        rts

finish: ldhx    *_ws_aes_encrypt_PARM_4
        mov     #16, *sum
3$:     pula
        sta     ,x
        aix     #1
        dbnz    *sum, 3$
        ldhx    #16
4$:     clr     *state - 1,x
        clr     *round_key - 1,x
        pshx                            ; over what is left of the block on the stack, which may be key stream
        dbnzx   4$
        ais     #16
        rts

mix:    ldhx    #12
5$:     lda     *state + 3,x
        eor     *state,x
        sta     *sum
        double_keeping_x ws_secret_table_aes_encrypt_reduction
        eor     *state,x
        eor     *state + 1,x
        eor     *state + 2,x
        eor     *round_key + 3,x
        psha
        lda     *state + 2,x
        eor     *state + 3,x
        double_keeping_x ws_secret_table_aes_encrypt_reduction
        eor     *sum
        eor     *state + 1,x
        eor     *round_key + 2,x
        psha
        lda     *state + 1,x
        eor     *state + 2,x
        double_keeping_x ws_secret_table_aes_encrypt_reduction
        eor     *sum
        eor     *state + 2,x
        eor     *round_key + 1,x
        psha
        lda     *state,x
        eor     *state + 1,x
        double_keeping_x ws_secret_table_aes_encrypt_reduction
        eor     *state + 1,x
        eor     *state + 2,x
        eor     *state + 3,x
        eor     *round_key,x
        psha
        aix     #-4
        tstx
        bpl     5$
        jmp     round
