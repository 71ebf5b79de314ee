/* Functions that drive a pin and a UART of an ATmega328P, for Python to call. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
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

/* Lets the two-wire interface do the next thing; returns its status. */
static uint8_t twi(uint8_t control)
{
    TWCR = control | 1 << TWINT | 1 << TWEN;
    while (!(TWCR & 1 << TWINT))
        ;
    return TWSR & 0xf8;
}

static uint8_t twi_send(uint8_t byte)
{
    TWDR = byte;
    return twi(0);
}

/* Two bytes of a device's register, the high one first; 0xffff where nobody acknowledges. */
__attribute__((used)) uint16_t i2c_read(uint8_t address, uint8_t place)
{
    uint16_t value = 0xffff;

    TWBR = 72; /* 100 kHz at 16 MHz */
    twi(1 << TWSTA);
    if (twi_send(address << 1) == 0x18 && twi_send(place) == 0x28) {
        twi(1 << TWSTA);
        if (twi_send(address << 1 | 1) == 0x40) {
            twi(1 << TWEA);
            value = (uint16_t)TWDR << 8;
            twi(0);
            value |= TWDR;
        }
    }
    TWCR = 1 << TWINT | 1 << TWEN | 1 << TWSTO;
    while (TWCR & 1 << TWSTO)
        ;
    return value;
}

static volatile uint8_t is_done;

ISR(TWI_vect)
{
    /* A one would clear TWINT, and go on. */
    TWCR = 1 << TWEN;
    is_done = 1;
}

static void twi_asleep(uint8_t control)
{
    is_done = 0;
    TWCR = control | 1 << TWINT | 1 << TWEN | 1 << TWIE;
    while (!is_done)
        sleep_cpu();
}

/* Sends a byte to a device, asleep meanwhile, and stays. */
__attribute__((used)) void send_asleep(void)
{
    TWBR = 72;
    SMCR = 1 << SE;
    sei();
    twi_asleep(1 << TWSTA);
    TWDR = 0x48 << 1;
    twi_asleep(0);
    TWDR = 9;
    twi_asleep(0);
    for (;;)
        ;
}

/* Selects the device at PB2 and leaves it selected. */
__attribute__((used)) void select_spi(void)
{
    PORTB = 0;
    DDRB = 1 << 2 | 1 << 3 | 1 << 5;
    SPCR = 1 << SPE | 1 << MSTR;
}

/* A byte to the device that is selected. */
__attribute__((used)) uint8_t spi_byte(uint8_t byte)
{
    SPDR = byte;
    while (!(SPSR & 1 << SPIF))
        ;
    return SPDR;
}

/* Exchanges two bytes with the device that PB2 selects. */
__attribute__((used)) uint16_t spi_exchange(uint8_t first, uint8_t second)
{
    uint8_t answer;

    PORTB = 1 << 2;
    DDRB = 1 << 2 | 1 << 3 | 1 << 5;
    SPCR = 1 << SPE | 1 << MSTR;
    PORTB = 0;
    SPDR = first;
    while (!(SPSR & 1 << SPIF))
        ;
    answer = SPDR;
    SPDR = second;
    while (!(SPSR & 1 << SPIF))
        ;
    PORTB = 1 << 2;
    return (uint16_t)answer << 8 | SPDR;
}
