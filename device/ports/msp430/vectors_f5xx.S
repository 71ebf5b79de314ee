; Vectors of the MSP430F5xx.

; What a driver handles; where no such driver is linked, it is unexpected. They are labels of their own here, because another name for
; a symbol of another file would be that symbol, whatever driver is linked.
    .section .text.ws_unhandled, "ax", @progbits
    .weak ws_interrupt_p1
    .weak ws_interrupt_ta0
    .weak ws_interrupt_ta1
    .weak ws_interrupt_adc12
ws_interrupt_p1:
ws_interrupt_ta0:
ws_interrupt_ta1:
ws_interrupt_adc12:
1:  jmp 1b

; The bootloader has its own.
#ifndef WS_BOOTLOADER
; 64 vectors, the last is reset (SLAS655, "Interrupt Vector Addresses").
    .section .vectors, "a", @progbits
    .rept 47
    .short ws_unexpected_interrupt
    .endr
    .short ws_interrupt_p1
    .short ws_unexpected_interrupt
    .short ws_interrupt_ta1
    .rept 3
    .short ws_unexpected_interrupt
    .endr
    .short ws_interrupt_ta0
    .short ws_unexpected_interrupt
    .short ws_interrupt_adc12
    .rept 7
    .short ws_unexpected_interrupt
    .endr
    .short ws_reset
#endif
