; TA0's interrupt of an overflow, which its handler forbids again. SLAU208, "Timer_A", "Operating Modes".

#define TA0CTL 0x0340
#define TA0IV 0x036e
#define TAIE 0x0002
#define CPUOFF 0x0010
#define GIE 0x0008

    .section .text.ws_update_await_interrupt, "ax", @progbits
    .globl ws_update_await_interrupt
    .type ws_update_await_interrupt, @function
ws_update_await_interrupt:
    bis #TAIE, &TA0CTL
    nop
    bis #GIE+CPUOFF, r2
    nop
    dint
    nop
    ret
    .size ws_update_await_interrupt, . - ws_update_await_interrupt

    .section .text.ws_interrupt_ta0, "ax", @progbits
    .globl ws_interrupt_ta0
    .type ws_interrupt_ta0, @function
ws_interrupt_ta0:
    bic #TAIE, &TA0CTL
    ; Reading it clears the flag.
    tst &TA0IV
    bic #CPUOFF, 0(r1)
    reti
    .size ws_interrupt_ta0, . - ws_interrupt_ta0

    .section .text.ws_update_sleep, "ax", @progbits
    .globl ws_update_sleep
    .type ws_update_sleep, @function
ws_update_sleep:
    bis #GIE+CPUOFF, r2
    nop
    jmp ws_update_sleep
    .size ws_update_sleep, . - ws_update_sleep
