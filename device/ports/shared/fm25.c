/* An FM25L16B, ferroelectric memory of 2048 bytes, as the EEPROM: data sheet 001-84485. Its first WS_EEPROM_BYTES are used.
 *
 * A byte is kept as soon as its last bit has been clocked in, so that a write is over when the bus is: there is nothing in the
 * background. Nothing wears (10^14 writes), and a byte of which the power's loss leaves a part of the bits on the bus is not
 * changed; so bytes are written whatever they were. */
#include "../../drivers/eeprom.h"

#include "spi.h"

#define WRITE 0x02u
#define READ 0x03u
#define WREN 0x06u

/* Selects the chip, for data from at on. */
static void begin(uint8_t command, uint16_t at)
{
    ws_spi_select(WS_SPI_MEMORY);
    ws_spi_transfer(command);
    ws_spi_transfer((uint8_t)(at >> 8));
    ws_spi_transfer((uint8_t)at);
}

void ws_eeprom_read(uint16_t at, uint8_t *out, uint8_t len)
{
    begin(READ, at);
    while (len-- != 0) {
        *out++ = ws_spi_transfer(0);
    }
    ws_spi_release(WS_SPI_MEMORY);
}

void ws_eeprom_write(uint16_t at, const uint8_t *in, uint8_t len)
{
    /* The latch holds for one write. */
    ws_spi_select(WS_SPI_MEMORY);
    ws_spi_transfer(WREN);
    ws_spi_release(WS_SPI_MEMORY);
    begin(WRITE, at);
    while (len-- != 0) {
        ws_spi_transfer(*in++);
    }
    ws_spi_release(WS_SPI_MEMORY);
}

void ws_eeprom_begin(uint16_t at, const uint8_t *in, uint8_t len)
{
    ws_eeprom_write(at, in, len);
}

uint8_t ws_eeprom_busy(void)
{
    return 0;
}

void ws_eeprom_abandon(void)
{
}
