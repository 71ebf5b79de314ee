/* Says "ready", then a line that it hears in capitals; returns the number of characters in it. */
#include <avr/io.h>
#include <ctype.h>

static void put(char c)
{
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = c;
}

int main(void)
{
    int count = 0;
    char c;

    UBRR0 = 12;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    for (const char *text = "ready\n"; *text; text++) {
        put(*text);
    }
    do {
        while (!(UCSR0A & (1 << RXC0))) {
        }
        c = UDR0;
        put((char)toupper(c));
        count++;
    } while (c != '\n');
    return count;
}
