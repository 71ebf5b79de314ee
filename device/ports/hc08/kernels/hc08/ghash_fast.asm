; GHASH, NIST SP 800-38D section 6.4, fast: ws_ghash_blocks of crypto/ghash.h.
;
; in:  X:A = y; h, data, blocks as sdcc passes them, in variables of their own
; out: y; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 60 bytes, 16 of RAM elsewhere.
; 31,568 bus cycles a block and 418 for the call, with JSR (extended, 5) and RTS; 392 bytes.
; Constant time: no branch and no address depends on a secret.
;
; A byte with its bits, most significant first, is a polynomial, as the standard has it. Bit k of byte i of the one
; factor wants the other times x^k, added i bytes on in the product of 32 bytes. So all bytes have their turn for each
; k, with the other factor shifted only between: seven shifts of 17 bytes and not 127 of 16. Then the upper half of the
; product comes down with x^128 = 1 + x + x^2 + x^7.

        .module ghash_fast
        .globl  _ws_ghash_blocks, _ws_ghash_blocks_PARM_2, _ws_ghash_blocks_PARM_3, _ws_ghash_blocks_PARM_4

        .area   DSEG    (PAG)
; h, data, blocks: high byte first.
_ws_ghash_blocks_PARM_2:
        .ds     2
_ws_ghash_blocks_PARM_3:
        .ds     2
_ws_ghash_blocks_PARM_4:
        .ds     2
y:      .ds     2
turns:  .ds     1
; From here on secret.
mask:   .ds     1
doubled:
        .ds     1
shifted:
        .ds     17
product:
        .ds     32
secrets = 51

        .area   XSEG
factor: .ds     16

; Byte j of the shifted factor under the mask, to byte x - 1 + j of the product. 12 cycles.
        .macro  add_byte j
        lda     *shifted + j
        and     *mask
        eor     *product - 1 + j,x
        sta     *product - 1 + j,x
        .endm

        .area   CSEG    (CODE)
_ws_ghash_blocks:
        sta     *y + 1
        stx     *y
next:   ldhx    *_ws_ghash_blocks_PARM_4
        bne     1$
        jmp     done
1$:     aix     #-1
        sthx    *_ws_ghash_blocks_PARM_4

        mov     #16, *turns             ; factor = y + data, by the stack, because there is but one pointer
2$:     ldhx    *_ws_ghash_blocks_PARM_3
        lda     ,x
        aix     #1
        sthx    *_ws_ghash_blocks_PARM_3
        ldhx    *y
        eor     ,x
        aix     #1
        sthx    *y
        psha
        dbnz    *turns, 2$
        ldhx    #16
3$:     pula
        sta     factor - 1,x
        dbnzx   3$
        ldx     #32
4$:     clr     *product - 1,x
        dbnzx   4$
        ldhx    *_ws_ghash_blocks_PARM_2
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     ,x+, *shifted + i
        .endm
        clr     *shifted + 16

        mov     #8, *turns
bit:    ldhx    #16
byte:   lda     factor - 1,x
        lsla
        sta     factor - 1,x
        clra
        sbc     #0
        sta     *mask
        .irp    j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        add_byte j
        .endm
        decx
        beq     5$
        jmp     byte
5$:     lsr     *shifted
        .irp    i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        ror     *shifted + i
        .endm
        dbnz    *turns, 6$
        bra     reduce
6$:     jmp     bit

; A byte b of the upper half adds b + b x + b x^2 + b x^7, 15 bits, to the byte 16 before it and the one behind that.
reduce: ldx     #16
7$:     lda     *product + 15,x
        sta     *shifted
        lsla
        sta     *doubled                ; b x^7 beyond the byte
        eor     *shifted
        and     #3
        nsa
        lsla
        lsla                            ; b x and b x^2 beyond the byte
        eor     *doubled
        eor     *product,x
        sta     *product,x
        lda     *shifted
        lsra
        sta     *doubled
        lsra
        eor     *doubled
        eor     *shifted
        sta     *doubled
        lda     *shifted
        lsla
        clra
        rola
        eor     *doubled
        eor     *product - 1,x
        sta     *product - 1,x
        dbnzx   7$

        ldhx    *y
        aix     #-16
        sthx    *y
        .irp    i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        mov     *product + i, x+
        .endm
        jmp     next

done:   ldhx    #secrets
8$:     clr     *mask - 1,x
        dbnzx   8$
        ldx     #16
9$:     pshx                            ; over what is left of y + data; factor itself is shifted out
        dbnzx   9$
        ais     #16
        rts
