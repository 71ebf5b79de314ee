/* The serial bus that that CC2500 and FM25L16B are on: 8 bits, most significant first, data taken over at the rising edge of a
 * clock that rests low (mode 0), at most 6.5 MHz. Implemented by a port. Not for interrupts. */
#ifndef WS_SHARED_SPI_H
#define WS_SHARED_SPI_H

#include <stdint.h>

/* Who listens: one at a time. */
#define WS_SPI_RADIO 0
#define WS_SPI_MEMORY 1

/* Sets the bus up; ws_board_start does that, after the select lines have gone high. */
void ws_spi_start(void);

/* Takes the select line of a chip low, and back high. */
void ws_spi_select(uint8_t chip);
void ws_spi_release(uint8_t chip);

/* Sends a byte, and returns the one that comes back. */
uint8_t ws_spi_transfer(uint8_t out);

/* The level of the line that comes back, 0 or not 0, while nothing is sent. */
uint8_t ws_spi_line(void);

/* Waits for so many microseconds, 1 to 10000, and a little longer. */
void ws_spi_wait_us(uint16_t us);

#endif
