/* Counter and UART of an AVR: Timer1 at the core's clock, and USART0 at TXD (PD1 of an ATmega328P,
 * an Uno's USB). DS40002061, "16-bit Timer/Counter1 with PWM", "USART0". The overflow's flag is the
 * counter's bit 16. */
#include "../../../verify/port.h"

#include <avr/io.h>

#if !defined(UBRR0L) || !defined(TIFR1)
#error "APP=verify: this part has no USART0 as the ATmega328P has it"
#endif

/* With U2X0 the UART divides the clock by 8. */
#define DIVIDER ((WS_CLOCK_HZ + 4 * WS_VERIFY_BAUD) / (8 * WS_VERIFY_BAUD) - 1)

void ws_verify_start(void)
{
    TCCR1A = 0;
    UBRR0H = DIVIDER >> 8;
    UBRR0L = DIVIDER & 0xff;
    UCSR0A = 1 << U2X0;
    UCSR0C = 1 << UCSZ01 | 1 << UCSZ00;
    UCSR0B = 1 << TXEN0;
}

void ws_verify_begin(void)
{
    TCCR1B = 0;
    TCNT1 = 0;
    TIFR1 = 1 << TOV1;
    TCCR1B = 1 << CS10;
}

uint32_t ws_verify_end(void)
{
    TCCR1B = 0;
    return (uint32_t)(TIFR1 & 1 << TOV1 ? 1 : 0) << 16 | TCNT1;
}

void ws_verify_send(uint8_t byte)
{
    while (!(UCSR0A & 1 << UDRE0)) {
    }
    UDR0 = byte;
    /* TXC0 is cleared by a one: it may be the byte before's. */
    UCSR0A = 1 << U2X0 | 1 << TXC0;
}

void ws_verify_flush(void)
{
    while (!(UCSR0A & 1 << TXC0)) {
    }
}
