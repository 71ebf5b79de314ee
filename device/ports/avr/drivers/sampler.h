/* What the sampler (sampler.c) and its interrupt (sampler_interrupt.S) share. */
#ifndef WS_AVR_SAMPLER_H
#define WS_AVR_SAMPLER_H

#include <avr/io.h>

#if WS_MAINS_VOLTAGE_CHANNEL % 2 != 0 || WS_MAINS_CURRENT_CHANNEL % 2 != 1
#error "the board's file: the mains voltage has to be at an even channel, the mains current at an odd one"
#endif

/* ADMUX for either channel: AVCC is the reference. The lowest bit tells them apart. */
#define WS_SAMPLER_VOLTAGE (_BV(REFS0) | WS_MAINS_VOLTAGE_CHANNEL)
#define WS_SAMPLER_CURRENT (_BV(REFS0) | WS_MAINS_CURRENT_CHANNEL)
/* ADCSRA while nothing is converted: triggered, with interrupts, its clock 1/128 of the part's. */
#define WS_SAMPLER_CONTROL (_BV(ADEN) | _BV(ADATE) | _BV(ADIE) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0))

#endif
