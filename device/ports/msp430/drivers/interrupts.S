; The drivers' interrupt service routines. They multiply nothing: whatever they interrupt may be in the midst of a product of the
; hardware multiplier, whose registers they leave alone (SLAU208, "32-Bit Hardware Multiplier", "Using the Multiplier with
; Interrupts"). They change no registers of the core, and wake it by clearing the low-power bits of the status register that
; RETI brings back (SLAU208, "Entering and Exiting Low-Power Modes").
;
; Registers touched: P1IFG 0x021c, TA0IV 0x036e.

#define P1IFG 0x021c
#define TA0IV 0x036e
#define RADIO_GDO0 (1 << WS_RADIO_GDO0_BIT)
#define LOW_POWER 0x00f0
#define OVERFLOW 0x0e

; GDO0 fell: a packet has ended.
    .section .text.ws_interrupt_p1, "ax", @progbits
    .globl ws_interrupt_p1
    .type ws_interrupt_p1, @function
ws_interrupt_p1:
    bic.b #RADIO_GDO0, &P1IFG
    mov.b #1, &ws_radio_event
    bic #LOW_POWER, 0(r1)
    reti
    .size ws_interrupt_p1, . - ws_interrupt_p1

; TA0: the time to wake has come, or the timer begins anew. Reading TA0IV clears the flag that it names.
    .section .text.ws_interrupt_ta0, "ax", @progbits
    .globl ws_interrupt_ta0
    .type ws_interrupt_ta0, @function
ws_interrupt_ta0:
    cmp #OVERFLOW, &TA0IV
    jne 1f
    add #1, &ws_clock_overflows
    adc &ws_clock_overflows+2
1:  bic #LOW_POWER, 0(r1)
    reti
    .size ws_interrupt_ta0, . - ws_interrupt_ta0
