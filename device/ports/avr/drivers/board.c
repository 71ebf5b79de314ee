/* The meter's board: ATmega328P at 16 MHz and 5 V, RFM12B, mains voltage and current at the converter. Data sheet DS40002061, chapters
 * "I/O-Ports", "Power Management and Sleep Modes", "Analog Comparator", "Analog-to-Digital Converter". The radio is wired as on
 * the JeeNode and the emonTx (JeeLib, RF12.cpp).
 *
 *   PB2  out  nSEL of the RFM12B       PB3 MOSI   PB4 MISO   PB5 SCK
 *   PD2  in   nIRQ of the RFM12B
 *   PC0  ADC0 mains voltage, through a transformer and a divider, around half the supply
 *   PC1  ADC1 current, through a current transformer and its burden, around half the supply
 *   PB6, PB7  crystal; PC6 reset
 * All others are outputs at 0, as an input that floats draws current. */
#include "../../../drivers/board.h"

#include <avr/io.h>

#ifndef __AVR_ATmega328P__
#error "these drivers are for the ATmega328P alone"
#endif

void ws_board_start(void)
{
    /* nSEL is high, and so nothing is asked of the radio, before it becomes an output. Nobody drives MISO while it is high, and
     * nIRQ while the radio has no power: their resistors pull them up. */
    PORTB = _BV(PORTB2) | _BV(PORTB4);
    DDRB = _BV(DDB0) | _BV(DDB1) | _BV(DDB2) | _BV(DDB3) | _BV(DDB5);
    PORTC = 0;
    DDRC = _BV(DDC2) | _BV(DDC3) | _BV(DDC4) | _BV(DDC5);
    PORTD = _BV(PORTD2);
    DDRD = (uint8_t)~_BV(DDD2);

    DIDR0 = _BV(ADC0D) | _BV(ADC1D);
    ACSR = _BV(ACD);
    PRR = _BV(PRTWI) | _BV(PRTIM2) | _BV(PRUSART0);
}
