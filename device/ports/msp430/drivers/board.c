/* The board: MSP430F5438A, CC2500; where it is a meter, also an FM25L16B and two transformers; wired as its file in boards/ says. User's
 * guide SLAU208, "Digital I/O Module"; ports as in data sheet SLAS655, "Peripheral File Map".
 *
 * All pins that nothing is wired to are outputs at 0, as an input that floats draws current. */
#include "../../../drivers/board.h"

#include "../../shared/spi.h"
#include "registers.h"

/* Outputs, directions and functions of P1 and P2, P3 and P4, and so on to P11: the even register is the first of a pair. */
#define PORTS 6
#define PORT_BASE(pair) (0x0200u + 0x20u * (pair))
#define PORT_OUT(pair) REGISTER(PORT_BASE(pair) + 0x02u)
#define PORT_DIR(pair) REGISTER(PORT_BASE(pair) + 0x04u)
#define PORT_REN(pair) REGISTER(PORT_BASE(pair) + 0x06u)

#define ANALOG (STORED_ENERGY | MAINS_VOLTAGE | MAINS_CURRENT)

void ws_board_start(void)
{
    uint8_t pair;

    for (pair = 0; pair < PORTS; pair++) {
        PORT_OUT(pair) = 0;
    }
    /* The select lines are high, and so nothing is asked of a chip, before they become outputs. */
    PORT_OUT(1) = RADIO_SELECT | MEMORY_SELECT;
    /* Nobody drives SOMI while these are high: its resistor pulls it down. */
    PORT_REN(1) = SPI_SOMI;
    PORT_DIR(0) = (uint16_t)~(RADIO_GDO0 | RADIO_GDO2);
    PORT_DIR(1) = (uint16_t)~SPI_SOMI;
    PORT_DIR(2) = (uint16_t)~(ANALOG << 8);
    PORT_DIR(3) = 0xffffu;
    PORT_DIR(4) = 0xffffu;
    /* P11 has no partner. */
    PORT_DIR(5) = 0x00ffu;
    /* The converter's inputs have their digital buffers off (SLAU208, "ADC12_A Port Selection"). */
    P6SEL = ANALOG;
    ws_spi_start();
}
