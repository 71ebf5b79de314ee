/* Starts a timer that moves a pin by itself, and sleeps for good. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

int main(void)
{
    /* OC0A toggles every 256 cycles: CTC with OCR0A = 255, no prescaler. */
    DDRD = 1 << PD6;
    OCR0A = 255;
    TCCR0A = 1 << COM0A0 | 1 << WGM01;
    TCCR0B = 1 << CS00;
    cli();
    for (;;) {
        sleep_mode();
    }
}
