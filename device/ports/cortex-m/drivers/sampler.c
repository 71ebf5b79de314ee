/* Mains voltage and current, each against the supply, by ADC1: an injected group of two that the clock's interrupt starts. RM0090,
 * "Analog-to-digital converter".
 *
 * The converter's clock is that of APB2 by 4, at most 21 MHz. Sampling takes 84 clocks, a conversion 12 more: at 21 MHz the current
 * is sampled 4.6 us after the voltage. */
#include "../../../drivers/sampler.h"
#include "../../../meter/metering.h"

#include "../../shared/noise.h"

#include "registers.h"

#define ADC1_SR REGISTER(0x40012000u)
#define ADC1_CR1 REGISTER(0x40012004u)
#define ADC1_CR2 REGISTER(0x40012008u)
#define ADC1_SMPR1 REGISTER(0x4001200cu)
#define ADC1_JSQR REGISTER(0x40012038u)
#define ADC1_JDR1 REGISTER(0x4001203cu)
#define ADC1_JDR2 REGISTER(0x40012040u)
#define ADC_CCR REGISTER(0x40012304u)
#define SR_JEOC 0x04u
/* SCAN, JEOCIE. */
#define CR1_GROUP 0x0180u
#define CR2_ON 0x00000001u
#define CR2_START_GROUP 0x00400000u
/* 84 clocks; the register has channels from 10 up. */
#define SMPR1_84 (4u << 3 * (WS_MAINS_VOLTAGE_CHANNEL - 10) | 4u << 3 * (WS_MAINS_CURRENT_CHANNEL - 10))
/* Two conversions; with so many the first is JSQ3, the second JSQ4. */
#define JSQR_PAIR (1u << 20 | WS_MAINS_VOLTAGE_CHANNEL << 10 | WS_MAINS_CURRENT_CHANNEL << 15)
#define CCR_BY_4 (1u << 16)
#define APB2_ADC1 0x0100u

/* DS8626, "ADC characteristics", tSTAB (from memory, not yet compared). */
#define START_US 3u

void ws_interrupt_adc(void);

/* What starts a pair; 0 until the sampler has started. */
static volatile uint32_t start;
/* A pair was started, and has not been taken. After an erasure of flash, during which the core stands still, two interrupts of the clock come one right
 * behind the other. */
static volatile uint8_t under_way;

void ws_sampler_start(void)
{
    RCC_APB2ENR |= APB2_ADC1;
    (void)RCC_APB2ENR;
    ADC_CCR = CCR_BY_4;
    ADC1_CR1 = CR1_GROUP;
    ADC1_SMPR1 = SMPR1_84;
    ADC1_JSQR = JSQR_PAIR;
    ADC1_CR2 = CR2_ON;
    ws_cortex_wait(START_US * ((WS_CLOCK_HZ + 2999999u) / 3000000u) + 1u);
    NVIC_ISER0 = 1u << IRQ_ADC;
    start = CR2_ON | CR2_START_GROUP;
}

void ws_sampler_trigger(void)
{
    if (start != 0 && !under_way) {
        under_way = 1;
        ADC1_CR2 = start;
    }
}

/* The pair is there. */
void ws_interrupt_adc(void)
{
    const uint16_t voltage = (uint16_t)ADC1_JDR1;
    const uint16_t current = (uint16_t)ADC1_JDR2;

    /* A flag is cleared by writing 0. */
    ADC1_SR = ~SR_JEOC;
    under_way = 0;
    ws_noise_sampled(voltage, current);
    ws_metering_sample(voltage >> 2, current >> 2);
}
