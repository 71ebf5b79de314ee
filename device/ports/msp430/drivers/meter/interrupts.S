; The sampler's interrupts (sampler.c).
;
; Registers touched: TA1CCR0 0x0392, ADC12CTL0 0x0700.

#define TA1CCR0 0x0392
#define ADC12CTL0 0x0700
#define ADC12_ENABLE_AND_START 0x0003
#define LOW_POWER 0x00f0

; 32,768 clocks a second are 26 and 134/625 to each of 1,250 samples.
#define WHOLE 26
#define NUMERATOR 134
#define DENOMINATOR 625

    .section .bss.ws_sampler_fraction, "aw", @nobits
    .balign 2
ws_sampler_fraction:
    .zero 2

; TA1: time for a pair of samples. The flag was cleared by coming here.
    .section .text.ws_interrupt_ta1, "ax", @progbits
    .globl ws_interrupt_ta1
    .type ws_interrupt_ta1, @function
ws_interrupt_ta1:
    bis #ADC12_ENABLE_AND_START, &ADC12CTL0
    add #WHOLE, &TA1CCR0
    add #NUMERATOR, &ws_sampler_fraction
    cmp #DENOMINATOR, &ws_sampler_fraction
    jlo 1f
    sub #DENOMINATOR, &ws_sampler_fraction
    add #1, &TA1CCR0
1:  reti
    .size ws_interrupt_ta1, . - ws_interrupt_ta1

; ADC12_A: the pair is there. C may change R11 to R15 (TI SLAA534).
    .section .text.ws_interrupt_adc12, "ax", @progbits
    .globl ws_interrupt_adc12
    .type ws_interrupt_adc12, @function
ws_interrupt_adc12:
    push r15
    push r14
    push r13
    push r12
    push r11
    call #ws_sampler_sampled
    tst.b r12
    jeq 1f
    bic #LOW_POWER, 10(r1)
1:  pop r11
    pop r12
    pop r13
    pop r14
    pop r15
    reti
    .size ws_interrupt_adc12, . - ws_interrupt_adc12
