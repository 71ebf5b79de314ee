/* The clock: Timer1 at clk/1024, 15,625 Hz of the crystal's 16 MHz. DS40002061, "16-bit Timer/Counter1 with PWM". It overflows every
 * 4.19 s. Sleep is idle, so that converter, radio and EEPROM go on. */
#include "../../../drivers/clock.h"

#include "sleep.h"

#if WS_CLOCK_HZ != 16000000
#error "the clock's ticks are 1/1024 of 16 MHz"
#endif

/* An overflow is 4 s and this many ticks. */
#define OVERFLOW_SECONDS (65536 / WS_CLOCK_TICKS)
#define OVERFLOW_REST ((uint16_t)(65536 % WS_CLOCK_TICKS))

/* Written by the interrupt: overflows; what they are in seconds and ticks below a second. */
static volatile uint16_t overflows;
static volatile uint32_t seconds;
static volatile uint16_t rest;

ISR(TIMER1_OVF_vect)
{
    uint16_t ticks = rest + OVERFLOW_REST;
    uint32_t more = OVERFLOW_SECONDS;

    if (ticks >= WS_CLOCK_TICKS) {
        ticks -= (uint16_t)WS_CLOCK_TICKS;
        more++;
    }
    rest = ticks;
    seconds += more;
    overflows++;
}

/* The time to wake has come. */
EMPTY_INTERRUPT(TIMER1_COMPA_vect)

/* Interrupts are off: an overflow since then has its flag up, but was not counted. */
static uint32_t now(void)
{
    uint16_t low = TCNT1;
    uint16_t high = overflows;

    if (TIFR1 & _BV(TOV1)) {
        low = TCNT1;
        high++;
    }
    return (uint32_t)high << 16 | low;
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
    uint32_t ticks;

    cli();
    ticks = now();
    sei();
    return ticks;
}

uint32_t ws_clock_seconds(void)
{
    uint32_t whole;
    uint32_t ticks;

    cli();
    ticks = TCNT1;
    if (TIFR1 & _BV(TOV1)) {
        ticks = (uint32_t)TCNT1 + 65536;
    }
    whole = seconds;
    ticks += rest;
    sei();
    while (ticks >= WS_CLOCK_TICKS) {
        ticks -= WS_CLOCK_TICKS;
        whole++;
    }
    return whole;
}

uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event)
{
    for (;;) {
        int32_t left;

        cli();
        left = (int32_t)(deadline - now());
        if ((event != 0 && *event != 0) || left <= 0) {
            break;
        }
        if (left < 0x10000) {
            OCR1A = (uint16_t)deadline;
            /* The match of a turn of the counter before. If it was this one's, the time has come. */
            TIFR1 = _BV(OCF1A);
            TIMSK1 = _BV(TOIE1) | _BV(OCIE1A);
            if ((int32_t)(deadline - now()) <= 0) {
                break;
            }
        }
        ws_avr_idle();
    }
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
