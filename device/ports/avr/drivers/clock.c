/* The clock: Timer1 at clk/1024, 15,625 Hz of the crystal's 16 MHz. DS40002061, "16-bit Timer/Counter1 with PWM". It overflows every
 * 4.19 s. Sleep is idle, so that converter, radio and EEPROM go on. */
#include "../../../drivers/clock.h"

#include "sleep.h"

#if WS_CLOCK_HZ != 16000000
#error "the clock's ticks are 1/1024 of 16 MHz"
#endif

/* Counted by the interrupt. */
static volatile uint32_t overflows;

ISR(TIMER1_OVF_vect)
{
    overflows++;
}

/* The counter has met OCR1A: the time to wake may have come. */
static volatile uint8_t matched;

ISR(TIMER1_COMPA_vect)
{
    matched = 1;
}

/* Overflows, and the counter. Interrupts are off: an overflow since then has its flag up, but was not counted. */
static uint32_t now(uint16_t *low)
{
    uint32_t high = overflows;

    *low = TCNT1;
    if (TIFR1 & _BV(TOV1)) {
        *low = TCNT1;
        high++;
    }
    return high;
}

void ws_clock_start(void)
{
    TCCR1A = 0;
    TCCR1B = _BV(CS12) | _BV(CS10);
    TIMSK1 = _BV(TOIE1);
    sei();
}

uint32_t ws_clock_ticks(void)
{
    uint32_t high;
    uint16_t low;

    cli();
    high = now(&low);
    sei();
    return high << 16 | low;
}

/* 15,625 overflows are 65,536 s, so that products of 32 bits are enough. */
uint32_t ws_clock_seconds(void)
{
    uint32_t high;
    uint16_t low;
    uint16_t rest;

    cli();
    high = now(&low);
    sei();
    rest = (uint16_t)(high % WS_CLOCK_TICKS);
    return (high / WS_CLOCK_TICKS << 16) + ((uint32_t)rest * 65536 + low) / WS_CLOCK_TICKS;
}

/* Ticks until deadline. Interrupts are off. */
static int32_t left_until(uint32_t deadline)
{
    uint16_t low;
    uint32_t high = now(&low);

    return (int32_t)(deadline - (high << 16 | low));
}

/* The sampler wakes the part 2500 times a second: what is done each time is as little as can be. */
uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event)
{
    cli();
    OCR1A = (uint16_t)deadline;
    TIMSK1 = _BV(TOIE1) | _BV(OCIE1A);
    SMCR = _BV(SE);
    /* The deadline may be past already, and is never met then. */
    matched = 1;
    while (event == 0 || *event == 0) {
        /* A match of an earlier turn of the counter wakes for nothing, once each 4 s. */
        if (matched && left_until(deadline) <= 0) {
            break;
        }
        matched = 0;
        ws_avr_sleep();
        cli();
    }
    SMCR = 0;
    TIMSK1 = _BV(TOIE1);
    sei();
    return event != 0 ? *event : 0;
}

void ws_clock_stop(void)
{
    cli();
    TCCR1B = 0;
    ADCSRA = 0;
    SMCR = _BV(SM1) | _BV(SE);
    for (;;) {
        __asm__ volatile("sleep");
    }
}
