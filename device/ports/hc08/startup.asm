; What sdcc's start-up leaves undone on the 68HC08; it calls this once SP is set. It has no registers to keep.
;
; out: A = 0 and Z set: initial values are to be copied.
; Turns the computer operating properly watchdog off (CONFIG1.COPD; the register can be written once after reset), and
; clears the variables that have no initial value, which C99 section 6.7.8 wants and sdcc for this processor omits.

        .module startup
        .globl  __sdcc_external_startup

CONFIG1 = 0x001f
COPD    = 0x01

        .area   DSEG    (PAG)
        .area   XSEG
        .area   CSEG    (CODE)

__sdcc_external_startup::
        mov     #COPD, *CONFIG1
        ldhx    #l_DSEG
        bra     2$
1$:     clra
        sta     (s_DSEG - 1),x
        aix     #-1
2$:     cphx    #0
        bne     1$
        ldhx    #l_XSEG
        bra     4$
3$:     clra
        sta     (s_XSEG - 1),x
        aix     #-1
4$:     cphx    #0
        bne     3$
        clra
        rts
