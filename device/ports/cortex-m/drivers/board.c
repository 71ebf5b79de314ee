/* A meter's board: STM32F407, CC2500, FM25L16B, mains voltage and current at the converter; wired as its file in boards/ says. RM0090,
 * "General-purpose I/Os"; alternate functions as in data sheet DS8626.
 *
 * The sensors' pins and all that nothing is wired to are analogue, which draws nothing whatever their level, but for those of the
 * debugger, PA13 and PA14. */
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
    GPIO_BSRR(PORT_A) = 1u << WS_RADIO_SELECT_BIT;
    GPIO_BSRR(PORT_B) = 1u << WS_MEMORY_SELECT_BIT;
    GPIO_AFRL(PORT_A) = AF5 << 4u * WS_SPI1_SCK_BIT | AF5 << 4u * WS_SPI1_MISO_BIT | AF5 << 4u * WS_SPI1_MOSI_BIT;
    /* Nobody drives MISO while the select lines are high, nor GDO0 while the radio begins. */
    GPIO_PUPDR(PORT_A) = DEBUGGER_PULLS | PULL_DOWN(WS_SPI1_MISO_BIT);
    GPIO_PUPDR(PORT_B) = PULL_DOWN(WS_RADIO_GDO0_BIT);
    GPIO_MODER(PORT_A) = ANALOGUE ^ (MODE(WS_RADIO_SELECT_BIT, 1u) | MODE(WS_SPI1_SCK_BIT, 2u) | MODE(WS_SPI1_MISO_BIT, 2u) |
                                     MODE(WS_SPI1_MOSI_BIT, 2u) | MODE(13u, 2u) | MODE(14u, 2u));
    GPIO_MODER(PORT_B) = ANALOGUE ^ (MODE(WS_MEMORY_SELECT_BIT, 1u) | MODE(WS_RADIO_GDO0_BIT, 0u));
    for (port = PORT_C; port < PORTS; port++) {
        GPIO_MODER(port) = ANALOGUE;
    }
    RCC_AHB1ENR &= ~(ENABLE_PORTS ^ ENABLE_A_TO_C);
    ws_spi_start();
}
