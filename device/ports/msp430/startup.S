; Start-up of the MSP430F5xx: stack, watchdog, .data, .bss, clock, main; the vectors.
;
; Registers touched: WDTCTL 0x015c, and those of clock.c.

#define WDTCTL 0x015c
#define WDTPW 0x5a00
#define WDTHOLD 0x0080

    .section .text.ws_reset, "ax", @progbits
    .globl ws_reset
    .type ws_reset, @function
ws_reset:
    mov #ws_stack_top, r1
    mov #WDTPW+WDTHOLD, &WDTCTL

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

ws_unexpected_interrupt:
    jmp ws_unexpected_interrupt
    .size ws_reset, . - ws_reset

; What a driver handles, and what is unexpected where no such driver is linked.
    .weak ws_interrupt_p1
    .set ws_interrupt_p1, ws_unexpected_interrupt
    .weak ws_interrupt_ta0
    .set ws_interrupt_ta0, ws_unexpected_interrupt
    .weak ws_interrupt_ta1
    .set ws_interrupt_ta1, ws_unexpected_interrupt
    .weak ws_interrupt_adc12
    .set ws_interrupt_adc12, ws_unexpected_interrupt

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
