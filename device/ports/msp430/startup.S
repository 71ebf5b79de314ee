; Start-up of the MSP430F5xx and MSP430FR5xx: stack, watchdog, .data, .bss, clock, main. The vectors are the family's.
;
; Registers touched: WDTCTL 0x015c, and those of the family's clock.

#define WDTCTL 0x015c
#define WDTPW 0x5a00
#define WDTHOLD 0x0080

    .section .text.ws_reset, "ax", @progbits
    .globl ws_reset
    .type ws_reset, @function
ws_reset:
    mov #ws_stack_top, r1
; In a slot it is as the bootloader has left it: held, or on trial.
#ifndef WS_SLOT
    mov #WDTPW+WDTHOLD, &WDTCTL
#endif

    mov #ws_data_load, r14
    mov #ws_data_start, r15
1:  cmp #ws_data_end, r15
    jeq 2f
    mov @r14+, r13
    mov r13, 0(r15)
    add #2, r15
    jmp 1b

2:  mov #ws_bss_start, r15
3:  cmp #ws_bss_end, r15
    jeq 4f
    mov #0, 0(r15)
    add #2, r15
    jmp 3b

4:  call #ws_clock_init
    call #main

    .globl ws_unexpected_interrupt
ws_unexpected_interrupt:
    jmp ws_unexpected_interrupt
    .size ws_reset, . - ws_reset
