; AES key expansion, FIPS 197, small: ws_aes_expand of crypto/aes.h.
;
; in:  X:A = round_keys; key, key_words as sdcc passes them, in variables of their own
; out: the round keys; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 6 bytes with the return address. Page zero: 13 bytes.
; With JSR (extended, 5) and RTS 5,350, 6,005 and 6,949 bus cycles for 4, 6 and 8 key words; 183 bytes of code, 439
; with aes_sbox_small.asm.
; Constant time for a given key_words: no branch depends on the key, and a look-up takes the same time at every address.
;
; A word at a time, on two pointers; the last word is kept in page zero, too, where the S-box takes it from.

        .module aes_expand_small
        .globl  _ws_secret_table_aes_sbox
        .globl  _ws_aes_expand, _ws_aes_expand_PARM_2, _ws_aes_expand_PARM_3

        .area   DSEG    (PAG)
; key, key_words: high byte first. The place of key becomes that of the word key_words ago.
_ws_aes_expand_PARM_2:
        .ds     2
_ws_aes_expand_PARM_3:
        .ds     2
to:     .ds     2
last:   .ds     4
rcon:   .ds     1
left:   .ds     1
position:
        .ds     1

        .area   CSEG    (CODE)
_ws_aes_expand:
        sta     *to + 1
        stx     *to
        psha
        pshx
        lda     *_ws_aes_expand_PARM_3 + 1
        sta     *position
1$:     bsr     ws_aes_expand_copy
        dbnz    *position, 1$
        pulx
        stx     *_ws_aes_expand_PARM_2
        pulx
        stx     *_ws_aes_expand_PARM_2 + 1
        mov     #1, *rcon
        lda     *_ws_aes_expand_PARM_3 + 1
        add     #7                      ; 4 (key_words + 7) words, of which key_words are there
        lsla
        lsla
        sub     *_ws_aes_expand_PARM_3 + 1
        sta     *left
        clr     *position

word:   ldx     *position
        beq     first
        cpx     #4
        bne     add
        lda     *_ws_aes_expand_PARM_3 + 1
        cmp     #8
        bne     add
        bsr     ws_aes_expand_substitute
        bra     add
first:  bsr     ws_aes_expand_substitute
        lda     *last
        mov     *last + 1, *last
        mov     *last + 2, *last + 1
        mov     *last + 3, *last + 2
        sta     *last + 3
        lda     *last
        eor     *rcon
        sta     *last
        lsl     *rcon
        bcc     add
        mov     #0x1b, *rcon
add:    ldhx    *_ws_aes_expand_PARM_2
        lda     *last
        eor     ,x
        sta     *last
        lda     *last + 1
        eor     1,x
        sta     *last + 1
        lda     *last + 2
        eor     2,x
        sta     *last + 2
        lda     *last + 3
        eor     3,x
        sta     *last + 3
        aix     #4
        sthx    *_ws_aes_expand_PARM_2
        bsr     ws_aes_expand_store
        inc     *position
        lda     *position
        cmp     *_ws_aes_expand_PARM_3 + 1
        bne     2$
        clr     *position
2$:     dbnz    *left, word
        ldhx    #4
3$:     clr     *last - 1,x
        dbnzx   3$
        rts

; The next word of the key to last, and on to where the next word of the round keys is.
ws_aes_expand_copy::
        ldhx    *_ws_aes_expand_PARM_2
        mov     ,x+,*last
        mov     ,x+,*last + 1
        mov     ,x+,*last + 2
        mov     ,x+,*last + 3
        sthx    *_ws_aes_expand_PARM_2
; The last word to where the next word of the round keys is.
ws_aes_expand_store::
        ldhx    *to
        mov     *last, x+
        mov     *last + 1, x+
        mov     *last + 2, x+
        mov     *last + 3, x+
        sthx    *to
        rts

; SubWord of the last word.
ws_aes_expand_substitute::
        ldhx    #_ws_secret_table_aes_sbox
        .irp    r, 0, 1, 2, 3
        ldx     *last + r
        lda     ,x
        sta     *last + r
        .endm
        rts
