; AES key expansion, FIPS 197, fast: ws_aes_expand of crypto/aes.h.
;
; in:  X:A = round_keys; key, key_words as sdcc passes them, in variables of their own
; out: the round keys; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 4 bytes with the return address. Page zero: 12 bytes.
; With JSR (extended, 5) and RTS 2,157, 2,359 and 2,725 bus cycles for 4, 6 and 8 key words; 608 bytes of code, 1,120
; with aes_sbox_fast.asm.
; Constant time for a given key_words: no branch depends on the key, and a look-up takes the same time at every address.
;
; H:X is at w[i] and the stores go key_words words on, so that one pointer serves for both. A row of up to four words is
; a chain in A. The last word is kept in page zero, too, where the S-box takes it from.

        .module aes_expand_fast
        .globl  _ws_secret_table_aes_sbox
        .globl  _ws_aes_expand, _ws_aes_expand_PARM_2, _ws_aes_expand_PARM_3

        .area   DSEG    (PAG)
; key, key_words: high byte first.
_ws_aes_expand_PARM_2:
        .ds     2
_ws_aes_expand_PARM_3:
        .ds     2
words:  .ds     2
last:   .ds     4
rcon:   .ds     1
turns:  .ds     1

; SubWord of the last word. 35 cycles.
        .macro  sub_word
        ldhx    #_ws_secret_table_aes_sbox
        .irp    r, 0, 1, 2, 3
        ldx     *last + r
        lda     ,x
        sta     *last + r
        .endm
        .endm

; SubWord and RotWord of the last word, and the round constant. 42 cycles.
        .macro  sub_rot_word
        ldhx    #_ws_secret_table_aes_sbox
        ldx     *last
        lda     ,x
        psha
        ldx     *last + 1
        lda     ,x
        eor     *rcon
        sta     *last
        ldx     *last + 2
        lda     ,x
        sta     *last + 1
        ldx     *last + 3
        lda     ,x
        sta     *last + 2
        pula
        sta     *last + 3
        .endm

; Row r of a word: from the word at offset from and the word before, A, to the word at offset to. 6 cycles.
        .macro  word r, from, to
        eor     from + r,x
        sta     to + r,x
        .endm

; Four words from offset from to offset to, and the last of them to last. 120 cycles.
        .macro  four_words from, to
        .irp    r, 0, 1, 2, 3
        lda     *last + r
        word    r, from, to
        word    r, from+4, to+4
        word    r, from+8, to+8
        word    r, from+12, to+12
        sta     *last + r
        .endm
        .endm

        .macro  two_words from, to
        .irp    r, 0, 1, 2, 3
        lda     *last + r
        word    r, from, to
        word    r, from+4, to+4
        sta     *last + r
        .endm
        .endm

        .area   CSEG    (CODE)
_ws_aes_expand:
        sta     *words + 1
        stx     *words
        psha
        pshx
        lda     *_ws_aes_expand_PARM_3 + 1
        sta     *turns
1$:     ldhx    *_ws_aes_expand_PARM_2
        mov     ,x+, *last
        mov     ,x+, *last + 1
        mov     ,x+, *last + 2
        mov     ,x+, *last + 3
        sthx    *_ws_aes_expand_PARM_2
        ldhx    *words
        mov     *last, x+
        mov     *last + 1, x+
        mov     *last + 2, x+
        mov     *last + 3, x+
        sthx    *words
        dbnz    *turns, 1$
        pulx
        stx     *words
        pulx
        stx     *words + 1
        mov     #1, *rcon
        cmp     #6
        bhi     eight
        beq     9$
        jmp     four
9$:     jmp     six

eight:  mov     #7, *turns
2$:     sub_rot_word
        ldhx    *words
        four_words 0, 32
        lsl     *rcon                   ; the last of seven is 0x40
        dbnz    *turns, 3$
        jmp     done
3$:     sub_word
        ldhx    *words
        four_words 16, 48
        aix     #32
        sthx    *words
        jmp     2$

four:   mov     #10, *turns
4$:     sub_rot_word
        ldhx    *words
        four_words 0, 16
        aix     #16
        sthx    *words
        lsl     *rcon
        bcc     5$
        mov     #0x1b, *rcon
5$:     dbnz    *turns, 6$
        jmp     done
6$:     jmp     4$

six:    mov     #8, *turns
7$:     sub_rot_word
        ldhx    *words
        four_words 0, 24
        lsl     *rcon                   ; the last of eight is 0x80
        dbnz    *turns, 8$
        bra     done
8$:     two_words 16, 40
        aix     #24
        sthx    *words
        jmp     7$

done:   clra
        psha                            ; over what is left of the last word
        pula
        clr     *last
        clr     *last + 1
        clr     *last + 2
        clr     *last + 3
        rts
