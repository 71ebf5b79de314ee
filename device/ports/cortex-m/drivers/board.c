/* The meter's board: STM32F407, CC2500, FM25L16B. RM0090, "General-purpose I/Os"; alternate functions as in data sheet DS8626.
 *
 *   PA4  out  CSn of the CC2500    PA5 SPI1_SCK   PA6 SPI1_MISO   PA7 SPI1_MOSI
 *   PB0  out  CS of the FM25L16B   PB1 in   GDO0
 *   PC1  ADC1 channel 11, mains voltage     PC2  channel 12, mains current, both around half of the supply
 * All others are analogue, which draws nothing whatever their level, but for those of the debugger, PA13 and PA14. */
#include "../../../drivers/board.h"

#include "../../shared/spi.h"

#include "registers.h"

/* MODER, two bits a pin: 0 input, 1 output, 2 alternate function, 3 analogue. */
#define ANALOGUE 0xffffffffu
#define MODE(pin, mode) ((3u ^ (mode)) << 2u * (pin))
/* PUPDR. */
#define PULL_DOWN(pin) (2u << 2u * (pin))
#define DEBUGGER_PULLS 0x64000000u
#define AF5 5u

#define PORTS 9u
#define ENABLE_PORTS 0x1ffu
#define ENABLE_A_TO_C 0x007u

void ws_board_start(void)
{
    uint32_t port;

    RCC_AHB1ENR |= ENABLE_PORTS;
    /* The select lines are high, and so nothing is asked of a chip, before they become outputs. */
    GPIO_BSRR(PORT_A) = 1u << RADIO_SELECT;
    GPIO_BSRR(PORT_B) = 1u << MEMORY_SELECT;
    GPIO_AFRL(PORT_A) = AF5 << 4u * SPI_SCK | AF5 << 4u * SPI_MISO | AF5 << 4u * SPI_MOSI;
    /* Nobody drives MISO while the select lines are high, nor GDO0 while the radio begins. */
    GPIO_PUPDR(PORT_A) = DEBUGGER_PULLS | PULL_DOWN(SPI_MISO);
    GPIO_PUPDR(PORT_B) = PULL_DOWN(RADIO_GDO0);
    GPIO_MODER(PORT_A) = ANALOGUE ^ (MODE(RADIO_SELECT, 1u) | MODE(SPI_SCK, 2u) | MODE(SPI_MISO, 2u) | MODE(SPI_MOSI, 2u) |
                                     MODE(13u, 2u) | MODE(14u, 2u));
    GPIO_MODER(PORT_B) = ANALOGUE ^ (MODE(MEMORY_SELECT, 1u) | MODE(RADIO_GDO0, 0u));
    for (port = PORT_C; port < PORTS; port++) {
        GPIO_MODER(port) = ANALOGUE;
    }
    RCC_AHB1ENR &= ~(ENABLE_PORTS ^ ENABLE_A_TO_C);
    ws_spi_start();
}
