/* SPI as the master of a serial bus: 8 bits, most significant first, data taken over at the rising edge of a clock that rests
 * low. DS40002061, "SPI - Serial Peripheral Interface". Its pins are set up by ws_board_start. */
#ifndef WS_AVR_SPI_H
#define WS_AVR_SPI_H

#include <avr/io.h>
#include <stdint.h>

/* Turns the module on, at half the core clock. */
void ws_spi_start(void);

/* From the next byte on: half the core clock, or an eighth of it, which is at most 2.5 MHz. Not while a byte is under way. */
static inline void ws_spi_fast(void)
{
    SPCR = _BV(SPE) | _BV(MSTR);
}

static inline void ws_spi_slow(void)
{
    SPCR = _BV(SPE) | _BV(MSTR) | _BV(SPR0);
}

/* Sends a byte, and returns the one that comes back. Here, and not in spi.c, for the sake of interrupts. */
static inline uint8_t ws_spi_transfer(uint8_t out)
{
    SPDR = out;
    while (!(SPSR & _BV(SPIF))) {
    }
    /* Clears the flag. */
    return SPDR;
}

#endif
