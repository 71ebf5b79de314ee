/* The stored voltage behind the board's divider, by ADC12_A against the reference that is called 1.5 V: divided by 4, up to 5958 mV.
 * SLAU208, "ADC12_A" and "Reference Module". */
#include "../../../drivers/stored_energy.h"

#include "registers.h"

#define REFCTL0 REGISTER(0x01b0)
/* REFMSTR: REFCTL0 rules the reference, not the converter; REFVSEL = 0: 1.49 V. */
#define REF_MASTER 0x0080u
#define REF_ON 0x0001u

#define ADC12CTL0 REGISTER(0x0700)
#define ADC12CTL1 REGISTER(0x0702)
#define ADC12CTL2 REGISTER(0x0704)
#define ADC12IFG REGISTER(0x070a)
#define ADC12MCTL0 REGISTER_BYTE(0x0710)
#define ADC12MEM0 REGISTER(0x0720)
/* 64 periods of 2.4 MHz typically: 27 us of sampling, enough for a divider of 100 kohm with 10 nF at the pin. */
#define CTL0_SAMPLE_64 0x0400u
#define CTL0_ON 0x0010u
#define CTL0_ENABLE 0x0002u
#define CTL0_START 0x0001u
/* A pulse of the sampling timer; one channel, once. The clock is MODOSC, 4.8 MHz typically and 5.4 MHz at most, by 2: SLAS655,
 * "12-Bit ADC, Timing Parameters", has linearity with the internal reference up to 4.0 MHz, with some of its settings 2.7 MHz
 * (from memory, not yet compared). */
#define CTL1_TIMER 0x0200u
#define CTL1_BY_2 0x0020u
#define CTL2_12_BITS 0x0020u
/* Between VREF+ and AVSS, the board's channel. */
#define MCTL_REFERENCE (0x10u | WS_STORED_VOLTAGE_CHANNEL)

/* SLAS655, "REF, Built-In Reference": it settles in 75 us. */
#define SETTLE_US 75u

/* SLAS655H, "REF, Built-In Reference": VREF+ for REFVSEL = 0 is typically 1.49 V, within 1.5 %; it needs 2.2 V of supply. */
#define REFERENCE_MV 1490u

uint16_t ws_stored_energy_mv(void)
{
    uint16_t code;

    REFCTL0 = REF_MASTER | REF_ON;
    ADC12CTL0 = CTL0_SAMPLE_64 | CTL0_ON;
    ADC12CTL1 = CTL1_TIMER | CTL1_BY_2;
    ADC12CTL2 = CTL2_12_BITS;
    ADC12MCTL0 = MCTL_REFERENCE;
    WAIT_US(SETTLE_US);
    ADC12CTL0 = CTL0_SAMPLE_64 | CTL0_ON | CTL0_ENABLE | CTL0_START;
    while (!(ADC12IFG & 1u)) {
    }
    /* Clears the flag. */
    code = ADC12MEM0;
    ADC12CTL0 = CTL0_SAMPLE_64 | CTL0_ON;
    ADC12CTL0 = 0;
    REFCTL0 = REF_MASTER;
    return (uint16_t)((uint32_t)code * (REFERENCE_MV * WS_STORED_VOLTAGE_DIVIDER) >> 12);
}
