/* For an ATmega328P at 16 MHz: asleep between the ticks of timer 0, which blink at PB5; at each it computes something. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>

static volatile uint8_t ticks;
static volatile uint16_t result;

ISR(TIMER0_COMPA_vect)
{
    PORTB ^= 1 << PB5;
    ticks++;
}

static uint16_t __attribute__((noinline)) mean(uint8_t count)
{
    uint16_t sum = 0;

    if (count == 0) {
        return 0;
    }
    for (uint8_t i = 0; i < count; i++) {
        sum += i;
    }
    return sum / count;
}

int main(void)
{
    DDRB = 1 << PB5;
    TCCR0A = 1 << WGM01;
    OCR0A = 249;
    TIMSK0 = 1 << OCIE0A;
    TCCR0B = 1 << CS01;
    set_sleep_mode(SLEEP_MODE_IDLE);
    sei();
    while (ticks < 10) {
        sleep_mode();
        result = mean(ticks);
    }
    TIMSK0 = 0;
    return 0;
}
