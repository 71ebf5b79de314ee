/* The sampler: Timer0 triggers a conversion of the voltage each 800 us, and its end starts one of the current. DS40002061,
 * "8-bit Timer/Counter0 with PWM", "Analog-to-Digital Converter".
 *
 * The converter's clock is 125 kHz, of the 50 to 200 kHz that full resolution takes. A triggered conversion samples 2 clocks after
 * its trigger and ends 13.5 after it, one that is started samples 1.5 clocks after its start (tables 24-1 and figures 24-4 to
 * 24-6): the current is sampled 108 us behind the voltage, 0.135 of the time between pairs.
 *
 * Noise: the lowest bits of eight conversions are a byte, 312.5 of them a second. */
#include "../../../drivers/sampler.h"

#include "../../../crypto/entropy.h"
#include "../../../meter/metering.h"
#include "sleep.h"

/* CTC: so many counts of clk/64 from trigger to trigger. */
#define COUNTS (WS_CLOCK_HZ / 64 / WS_SAMPLER_HZ)

/* AVCC is the reference; the inputs as board.c has them. */
#define VOLTAGE (_BV(REFS0) | 0)
#define CURRENT (_BV(REFS0) | 1)

/* Bits so far, behind a 1 that falls out at the top with the eighth; and the last eight, once they are there. */
static uint8_t bits;
static volatile uint8_t noise;
static volatile uint8_t noise_ready;

static uint16_t voltage;

ISR(ADC_vect)
{
    uint8_t first = ADMUX == VOLTAGE;
    uint16_t sample;
    uint8_t full = bits & 0x80;

    /* Before all else: half a clock of the converter after the end, 64 cycles, the next of its clocks would pass. The result stays
     * until the next one. */
    if (first) {
        ADMUX = CURRENT;
        ADCSRA |= _BV(ADSC);
    } else {
        ADMUX = VOLTAGE;
    }
    sample = ADC;
    /* The trigger is an edge of this flag. */
    TIFR0 = _BV(OCF0A);
    bits = (uint8_t)(bits << 1 | (sample & 1));
    if (full) {
        noise = bits;
        noise_ready = 1;
        bits = 1;
    }
    if (first) {
        voltage = sample;
    } else {
        ws_metering_sample(voltage, sample);
    }
}

void ws_sampler_start(void)
{
    bits = 1;
    TCCR0A = _BV(WGM01);
    OCR0A = (uint8_t)(COUNTS - 1);
    ADMUX = VOLTAGE;
    ADCSRB = _BV(ADTS1) | _BV(ADTS0);
    ADCSRA = _BV(ADEN) | _BV(ADATE) | _BV(ADIE) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0);
    TCCR0B = _BV(CS01) | _BV(CS00);
}

int ws_entropy_read(uint8_t *sample)
{
    if (!(ADCSRA & _BV(ADEN))) {
        return -1;
    }
    for (;;) {
        cli();
        if (noise_ready) {
            break;
        }
        ws_avr_idle();
    }
    *sample = noise;
    noise_ready = 0;
    sei();
    return 0;
}
