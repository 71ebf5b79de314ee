/* A meter's board: ATmega328P, RFM12B, mains voltage and current at the converter; wired as its file in boards/ says. Data sheet
 * DS40002061, chapters "I/O-Ports", "Power Management and Sleep Modes", "Analog Comparator", "Analog-to-Digital Converter".
 *
 * PB6 and PB7 are the crystal's, PC6 is reset. All pins that nothing is wired to are outputs at 0, as an input that floats draws
 * current. */
#include "../../../drivers/board.h"

#include <avr/io.h>

#ifndef __AVR_ATmega328P__
#error "these drivers are for the ATmega328P alone"
#endif
#if !defined(WS_SPI_MISO_PORT_PORTB) || WS_SPI_MISO_BIT != 4 || WS_SPI_MOSI_BIT != 3 || WS_SPI_SCK_BIT != 5
#error "the board's file: SPI has MOSI at PB3, MISO at PB4, SCK at PB5"
#endif
#if !defined(WS_MAINS_VOLTAGE_PORT_PORTC) || WS_MAINS_VOLTAGE_CHANNEL != WS_MAINS_VOLTAGE_BIT || WS_MAINS_VOLTAGE_BIT > 5
#error "the board's file: the mains voltage has to be at one of PC0 to PC5, which are the channels 0 to 5"
#endif
#if !defined(WS_MAINS_CURRENT_PORT_PORTC) || WS_MAINS_CURRENT_CHANNEL != WS_MAINS_CURRENT_BIT || WS_MAINS_CURRENT_BIT > 5
#error "the board's file: the mains current has to be at one of PC0 to PC5, which are the channels 0 to 5"
#endif

#define CRYSTAL (_BV(6) | _BV(7))
#define RESET _BV(6)
#define ANALOG (_BV(WS_MAINS_VOLTAGE_BIT) | _BV(WS_MAINS_CURRENT_BIT))

void ws_board_start(void)
{
    /* nSEL is high, and so nothing is asked of the radio, before it becomes an output. Nobody drives MISO while it is high, and
     * nIRQ while the radio has no power: their resistors pull them up. */
    PORTB = _BV(WS_RADIO_SELECT_BIT) | _BV(WS_SPI_MISO_BIT);
    DDRB = (uint8_t)~(_BV(WS_SPI_MISO_BIT) | CRYSTAL);
    PORTC = 0;
    /* There is no PC7. */
    DDRC = 0x7f & ~(ANALOG | RESET);
    PORTD = _BV(WS_RADIO_NIRQ_BIT);
    DDRD = (uint8_t)~_BV(WS_RADIO_NIRQ_BIT);

    /* A bit a channel. */
    DIDR0 = ANALOG;
    ACSR = _BV(ACD);
    PRR = _BV(PRTWI) | _BV(PRTIM2) | _BV(PRUSART0);
}
