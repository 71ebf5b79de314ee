/* UCB0 as the master of a serial bus: 8 bits, most significant first, data taken over at the rising edge of a clock that rests
 * low. SLAU208, "Universal Serial Communication Interface - SPI Mode". */
#ifndef WS_MSP430_SPI_H
#define WS_MSP430_SPI_H

#include <stdint.h>

/* Sets the module and its pins up: P3.1 SIMO, P3.2 SOMI, P3.3 CLK; SMCLK divided to at most 6.5 MHz. */
void ws_spi_start(void);

/* Sends a byte, and returns the one that comes back. */
uint8_t ws_spi_transfer(uint8_t out);

#endif
