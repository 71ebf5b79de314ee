/* UCB0 as the master of the serial bus. SLAU208, "Universal Serial Communication Interface - SPI Mode". SMCLK divided to at most
 * 6.5 MHz. */
#include "../../shared/spi.h"

#include "registers.h"

#define UCB0CTL1 REGISTER_BYTE(0x05e0)
#define UCB0CTL0 REGISTER_BYTE(0x05e1)
#define UCB0BR0 REGISTER_BYTE(0x05e6)
#define UCB0BR1 REGISTER_BYTE(0x05e7)
#define UCB0RXBUF REGISTER_BYTE(0x05ec)
#define UCB0TXBUF REGISTER_BYTE(0x05ee)
#define UCB0IFG REGISTER_BYTE(0x05fd)
/* UCCKPH, UCMSB, UCMST, UCMODE = 3-pin, UCSYNC. */
#define UCCTL0_MASTER 0xa9u
#define UCCTL1_SMCLK 0x80u
#define UCCTL1_RESET 0x01u
#define UCIFG_RECEIVED 0x01u

/* SWRS040, "4-wire Serial Configuration and Data Interface": up to 6.5 MHz where bytes follow each other without a pause. */
#define SPI_MAX_HZ 6500000u
#define DIVIDER ((WS_CLOCK_HZ + SPI_MAX_HZ - 1u) / SPI_MAX_HZ)

/* Turns of ws_msp430_wait in 256 us. */
#define TURNS_IN_256_US ((WS_CLOCK_HZ / 1000u * 256u + 4999u) / 5000u)

void ws_spi_start(void)
{
    UCB0CTL1 = UCCTL1_SMCLK | UCCTL1_RESET;
    UCB0CTL0 = UCCTL0_MASTER;
    UCB0BR0 = (uint8_t)DIVIDER;
    UCB0BR1 = 0;
    P3SEL |= SPI_SIMO | SPI_SOMI | SPI_CLK;
    UCB0CTL1 = UCCTL1_SMCLK;
}

static uint8_t select_line(uint8_t chip)
{
    return chip == WS_SPI_RADIO ? RADIO_SELECT : MEMORY_SELECT;
}

void ws_spi_select(uint8_t chip)
{
    P3OUT &= (uint8_t)~select_line(chip);
}

void ws_spi_release(uint8_t chip)
{
    P3OUT |= select_line(chip);
}

uint8_t ws_spi_transfer(uint8_t out)
{
    UCB0TXBUF = out;
    while (!(UCB0IFG & UCIFG_RECEIVED)) {
    }
    /* Clears the flag. */
    return UCB0RXBUF;
}

uint8_t ws_spi_line(void)
{
    return P3IN & SPI_SOMI;
}

void ws_spi_wait_us(uint16_t us)
{
    ws_msp430_wait((uint16_t)(((uint32_t)us * TURNS_IN_256_US >> 8) + 1u));
}
