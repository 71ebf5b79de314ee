; GHASH, NIST SP 800-38D section 6.4, small: ws_ghash_blocks of crypto/ghash.h.
;
; in:  X:A = y; h, data, blocks as sdcc passes them, in variables of their own
; out: y; nothing secret stays elsewhere, nor on the stack
; A, H, X and flags clobbered. Stack: 18 bytes with the return address. Page zero: 44 bytes.
; 50,445 bus cycles a block and 313 for the call, with JSR (extended, 5) and RTS; 137 bytes.
; Constant time: no branch and no address depends on a secret.
;
; Algorithm 1 of section 6.3: z gathers v = h x^i for each bit i set in the other factor. Both are kept last byte first,
; so that a loop down to zero, DBNZX, which leaves the carry alone, shifts v from its first byte to its last.

        .module ghash_small
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
bytes:  .ds     1
bits:   .ds     1
; From here on secret.
factor: .ds     1
mask:   .ds     1
v:      .ds     16
z:      .ds     16
secrets = 34

        .area   CSEG    (CODE)
_ws_ghash_blocks:
        sta     *y + 1
        stx     *y
next:   ldhx    *_ws_ghash_blocks_PARM_4
        beq     done
        aix     #-1
        sthx    *_ws_ghash_blocks_PARM_4
        mov     #16, *bytes
        ldhx    *_ws_ghash_blocks_PARM_2
1$:     lda     15,x
        psha
        aix     #-1
        dbnz    *bytes, 1$
        ldhx    #16
2$:     pula
        sta     *v - 1,x
        clr     *z - 1,x
        dbnzx   2$

        mov     #16, *bytes
byte:   ldhx    *_ws_ghash_blocks_PARM_3
        lda     ,x
        aix     #1
        sthx    *_ws_ghash_blocks_PARM_3
        ldhx    *y
        eor     ,x
        aix     #1
        sthx    *y
        sta     *factor
        mov     #8, *bits
bit:    lsl     *factor
        clra
        sbc     #0
        sta     *mask
        ldhx    #16
3$:     lda     *v - 1,x
        and     *mask
        eor     *z - 1,x
        sta     *z - 1,x
        dbnzx   3$
        clc
        ldx     #16
4$:     ror     *v - 1,x
        dbnzx   4$
        clra                            ; what falls off at the end is x^128 = 1 + x + x^2 + x^7
        sbc     #0
        and     #0xe1
        eor     *v + 15
        sta     *v + 15
        dbnz    *bits, bit
        dbnz    *bytes, byte

        ldx     #16
5$:     lda     *z - 1,x
        psha
        dbnzx   5$
        mov     #16, *bytes
        ldhx    *y
6$:     pula
        aix     #-1
        sta     ,x
        dbnz    *bytes, 6$
        sthx    *y
        bra     next

done:   ldhx    #secrets
7$:     clr     *factor - 1,x
        dbnzx   7$
        ldx     #16
8$:     pshx                            ; over what is left of h and z
        dbnzx   8$
        ais     #16
        rts
