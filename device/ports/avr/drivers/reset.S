; A part of start-up, in the midst of ws_reset (startup.S): keeps why the part was reset, stops the watchdog, which after a reset
; by it runs on with its shortest time (DS40002061, "Watchdog Timer"), and paints the stack's room, from behind the variables to
; the top.
;
; Registers touched: MCUSR, WDTCSR. In: R1 = 0; nothing is on the stack.

#include "paint.h"

#include <avr/io.h>

    .section .start.drivers, "ax", @progbits
    in r16, _SFR_IO_ADDR(MCUSR)
    out _SFR_IO_ADDR(MCUSR), r1
    wdr
    ldi r17, _BV(WDCE) | _BV(WDE)
    sts WDTCSR, r17
    sts WDTCSR, r1
    sts ws_reset_flags, r16

    ldi r26, lo8(ws_noinit_end)
    ldi r27, hi8(ws_noinit_end)
    ldi r16, WS_STACK_PAINT
    ldi r17, hi8(ws_stack_top + 1)
1:  st X+, r16
    cpi r26, lo8(ws_stack_top + 1)
    cpc r27, r17
    brne 1b

    .section .noinit, "aw", @nobits
    .global ws_reset_flags
ws_reset_flags:
    .space 1
