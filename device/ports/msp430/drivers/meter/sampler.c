/* Mains voltage and current, each against the supply, by ADC12_A in a sequence that TA1 starts. SLAU208, "ADC12_A" and
 * "Timer_A".
 *
 * TA1 counts ACLK, which runs on in LPM3: 32,768 / 1,250 = 26 + 134/625 of its clocks to a pair of samples, so that intervals of
 * 26 and 27 follow each other, exact on the whole and each at most 31 us off. The pair is always 12 us apart: 29 clocks of
 * 2.4 MHz.
 *
 * ws_metering_sample is built without the hardware multiplier (toolchains/gnu.mk), because what the interrupt breaks into may be
 * using it. */
#include "../../../../drivers/sampler.h"
#include "../../../../meter/metering.h"

#include "../../../shared/noise.h"

#include "../registers.h"

#define TA1CTL REGISTER(0x0380)
#define TA1CCTL0 REGISTER(0x0382)
#define TA1CCR0 REGISTER(0x0392)
#define TA1EX0 REGISTER(0x03a0)
/* ACLK, continuous mode, cleared; interrupt at the compare. */
#define TACTL_START 0x0124u
#define TACCTL_CCIE 0x0010u
#define FIRST 26u

#define ADC12CTL0 REGISTER(0x0700)
#define ADC12CTL1 REGISTER(0x0702)
#define ADC12CTL2 REGISTER(0x0704)
#define ADC12IE REGISTER(0x070c)
#define ADC12MCTL01 REGISTER(0x0710)
#define ADC12MEM0 REGISTER(0x0720)
#define ADC12MEM1 REGISTER(0x0722)
/* 16 clocks of sampling, one conversion after the other, on, enabled: started by ADC12SC (interrupts.S). */
#define CTL0_PAIR 0x0290u
#define CTL0_ENABLE 0x0002u
/* Sampling timer, MODOSC by 2, a sequence. */
#define CTL1_SEQUENCE 0x0222u
#define CTL2_12_BITS 0x0020u
/* Voltage into memory 0, current into memory 1, which ends the sequence. */
#define MCTL_PAIR (0x8000u | WS_MAINS_CURRENT_CHANNEL << 8 | WS_MAINS_VOLTAGE_CHANNEL)
#define PAIR_DONE 0x0002u

/* SLAU208, "Power Management Module": with SVSLFP the part wakes in 3.5 us, else in 150 us. */
#define PMMCTL0_H REGISTER_BYTE(0x0121)
#define SVSMLCTL REGISTER(0x0126)
#define PMM_UNLOCK 0xa5u
#define SVSLFP 0x0800u

uint8_t ws_sampler_sampled(void);

void ws_sampler_start(void)
{
    PMMCTL0_H = PMM_UNLOCK;
    SVSMLCTL |= SVSLFP;
    PMMCTL0_H = 0;
    ADC12CTL1 = CTL1_SEQUENCE;
    ADC12CTL2 = CTL2_12_BITS;
    ADC12MCTL01 = MCTL_PAIR;
    ADC12IE = PAIR_DONE;
    ADC12CTL0 = CTL0_PAIR;
    ADC12CTL0 = CTL0_PAIR | CTL0_ENABLE;
    TA1EX0 = 0;
    TA1CCR0 = FIRST;
    TA1CCTL0 = TACCTL_CCIE;
    TA1CTL = TACTL_START;
}

/* Called by the interrupt (interrupts.S). Returns whether the processor is to stay awake. */
uint8_t ws_sampler_sampled(void)
{
    /* Reading clears the flags. */
    const uint16_t voltage = ADC12MEM0;
    const uint16_t current = ADC12MEM1;
    const uint8_t awaited = ws_noise_sampled(voltage, current);

    ws_metering_sample(voltage >> 2, current >> 2);
    return awaited;
}
