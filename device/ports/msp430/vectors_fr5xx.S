; Vectors of the MSP430FR5xx.

; In front of the 55 vectors and that of reset are the signatures that lock JTAG, the boot loader and protected code where they are set
; (SLASE54, "Interrupt Vector Addresses"): as in erased memory they do nothing.
    .section .vectors, "a", @progbits
    .rept 8
    .short 0xffff
    .endr
    .rept 55
    .short ws_unexpected_interrupt
    .endr
    .short ws_reset
