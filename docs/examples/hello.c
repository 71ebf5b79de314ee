/* For an ATmega328P at 16 MHz: says hello to whom it is told by a line at its UART, 9600 baud. */
#include <avr/io.h>

static void put(char c)
{
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = (uint8_t)c;
}

static char get(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return (char)UDR0;
}

int main(void)
{
    char c;

    UBRR0 = 103;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    for (const char *text = "hello "; *text; text++) {
        put(*text);
    }
    do {
        c = get();
        put(c);
    } while (c != '\n');
    return 0;
}
