/* SPI1 as the master of the serial bus. RM0090, "Serial peripheral interface". */
#include "../../shared/spi.h"

#include "registers.h"

#define SPI1_CR1 REGISTER(0x40013000u)
#define SPI1_SR REGISTER(0x40013008u)
#define SPI1_DR REGISTER(0x4001300cu)
/* SSM, SSI, MSTR; SPE. */
#define CR1_MASTER 0x0304u
#define CR1_ENABLE 0x0040u
#define SR_RXNE 0x0001u
#define APB2_SPI1 0x1000u

/* SWRS040, "4-wire Serial Configuration and Data Interface": up to 6.5 MHz where bytes follow each other without a pause. The clock
 * is that of APB2 by 2^(BR + 1). */
#define SPI_MAX_HZ 6500000
#define BR                                                                                                                  \
    (PCLK2_HZ <= 2 * SPI_MAX_HZ ? 0u : PCLK2_HZ <= 4 * SPI_MAX_HZ ? 1u : PCLK2_HZ <= 8 * SPI_MAX_HZ ? 2u : 3u)

void ws_spi_start(void)
{
    RCC_APB2ENR |= APB2_SPI1;
    /* The clock runs two cycles later: a read takes those. */
    (void)RCC_APB2ENR;
    SPI1_CR1 = CR1_MASTER | BR << 3;
    SPI1_CR1 = CR1_MASTER | BR << 3 | CR1_ENABLE;
}

static void drive(uint8_t chip, uint32_t shift)
{
    if (chip == WS_SPI_RADIO) {
        GPIO_BSRR(PORT_A) = 1u << WS_RADIO_SELECT_BIT << shift;
    } else {
        GPIO_BSRR(PORT_B) = 1u << WS_MEMORY_SELECT_BIT << shift;
    }
}

void ws_spi_select(uint8_t chip)
{
    drive(chip, 16);
}

void ws_spi_release(uint8_t chip)
{
    drive(chip, 0);
}

uint8_t ws_spi_transfer(uint8_t out)
{
    SPI1_DR = out;
    while (!(SPI1_SR & SR_RXNE)) {
    }
    /* Clears the flag. */
    return (uint8_t)SPI1_DR;
}

uint8_t ws_spi_line(void)
{
    return (uint8_t)(GPIO_IDR(PORT_A) & 1u << WS_SPI1_MISO_BIT);
}

void ws_spi_wait_us(uint16_t us)
{
    ws_cortex_wait(us * ((WS_CLOCK_HZ + 2999999u) / 3000000u));
}
