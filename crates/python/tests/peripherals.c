/* Functions that drive a pin and a UART of an ATmega328P, for Python to call. */
#include <avr/io.h>
#include <stdint.h>

#define BAUD_500K 1 /* UBRR0 at 16 MHz */

__attribute__((used)) void drive_pin(void)
{
    DDRB = 1 << 5;
    PORTB = 1 << 5;
}

__attribute__((used)) void open_uart(void)
{
    UBRR0 = BAUD_500K;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
}

/* Waits for a byte, and sends it back. */
__attribute__((used)) uint8_t echo(void)
{
    uint8_t byte;

    while (!(UCSR0A & 1 << RXC0))
        ;
    byte = UDR0;
    while (!(UCSR0A & 1 << UDRE0))
        ;
    UDR0 = byte;
    /* A one clears it: it may be the byte before's. */
    UCSR0A = 1 << TXC0;
    return byte;
}

/* Until the last byte is out. */
__attribute__((used)) void wait(void)
{
    while (!(UCSR0A & 1 << TXC0))
        ;
}
