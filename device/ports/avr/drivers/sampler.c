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
#include "sampler.h"
#include "sleep.h"

/* CTC: so many counts of clk/64 from trigger to trigger. */
#define COUNTS (WS_CLOCK_HZ / 64 / WS_SAMPLER_HZ)

/* Of the interrupt. The channel that is converted, as ADMUX; the voltage of the pair under way. */
uint8_t ws_sampler_channel;
uint16_t ws_sampler_voltage;
/* Bits so far, behind a 1 that falls out at the top with the eighth; and the last eight, once they are there. */
uint8_t ws_sampler_bits;
volatile uint8_t ws_sampler_noise;
volatile uint8_t ws_sampler_noise_ready;

void ws_sampler_start(void)
{
    ws_sampler_bits = 1;
    ws_sampler_channel = WS_SAMPLER_VOLTAGE;
    TCCR0A = _BV(WGM01);
    OCR0A = (uint8_t)(COUNTS - 1);
    ADMUX = WS_SAMPLER_VOLTAGE;
    ADCSRB = _BV(ADTS1) | _BV(ADTS0);
    ADCSRA = WS_SAMPLER_CONTROL;
    TCCR0B = _BV(CS01) | _BV(CS00);
}

int ws_entropy_read(uint8_t *sample)
{
    if (!(ADCSRA & _BV(ADEN))) {
        return -1;
    }
    for (;;) {
        cli();
        if (ws_sampler_noise_ready) {
            break;
        }
        ws_avr_idle();
    }
    *sample = ws_sampler_noise;
    ws_sampler_noise_ready = 0;
    sei();
    return 0;
}
