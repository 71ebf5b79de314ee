/* Registers of the MSP430F5438A that the drivers share, by the chapters of SLAU208; and the board's pins, as its file in boards/ has
 * them. */
#ifndef WS_MSP430_REGISTERS_H
#define WS_MSP430_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define REGISTER_BYTE(address) (*(volatile uint8_t *)(address))

/* "Digital I/O Module". */
#define P1IN REGISTER_BYTE(0x0200)
#define P1IES REGISTER_BYTE(0x0218)
#define P1IE REGISTER_BYTE(0x021a)
#define P1IFG REGISTER_BYTE(0x021c)
#define P3IN REGISTER_BYTE(0x0220)
#define P3OUT REGISTER_BYTE(0x0222)
#define P3SEL REGISTER_BYTE(0x022a)
#define P6SEL REGISTER_BYTE(0x024b)

/* Ports are fixed by these drivers, the bits in them are the board's. */
#if !defined(WS_RADIO_CC2500) || !defined(WS_RADIO_SPI_UCB0) || !defined(WS_RADIO_SELECT_PORT_P3)
#error "the board's file: the radio has to be a CC2500 on UCB0, selected by a pin of P3"
#endif
#if !defined(WS_RADIO_GDO0_PORT_P1) || !defined(WS_RADIO_GDO2_PORT_P1)
#error "the board's file: GDO0 and GDO2 of the CC2500 have to be at P1"
#endif
#if !defined(WS_MEMORY_FM25L16B) || !defined(WS_MEMORY_SPI_UCB0) || !defined(WS_MEMORY_SELECT_PORT_P3)
#error "the board's file: the memory has to be an FM25L16B on UCB0, selected by a pin of P3"
#endif
#if !defined(WS_UCB0_MOSI_PORT_P3) || WS_UCB0_MOSI_BIT != 1 || WS_UCB0_MISO_BIT != 2 || WS_UCB0_SCK_BIT != 3
#error "the board's file: UCB0 has SIMO at P3.1, SOMI at P3.2, CLK at P3.3"
#endif
#if !defined(WS_STORED_VOLTAGE_PORT_P6) || WS_STORED_VOLTAGE_CHANNEL != WS_STORED_VOLTAGE_BIT
#error "the board's file: the stored voltage has to be at P6, whose pins are the channels 0 to 7"
#endif
#if !defined(WS_MAINS_VOLTAGE_PORT_P6) || WS_MAINS_VOLTAGE_CHANNEL != WS_MAINS_VOLTAGE_BIT
#error "the board's file: the mains voltage has to be at P6, whose pins are the channels 0 to 7"
#endif
#if !defined(WS_MAINS_CURRENT_PORT_P6) || WS_MAINS_CURRENT_CHANNEL != WS_MAINS_CURRENT_BIT
#error "the board's file: the mains current has to be at P6, whose pins are the channels 0 to 7"
#endif
#define RADIO_GDO0 (1u << WS_RADIO_GDO0_BIT)
#define RADIO_GDO2 (1u << WS_RADIO_GDO2_BIT)
#define RADIO_SELECT (1u << WS_RADIO_SELECT_BIT)
#define MEMORY_SELECT (1u << WS_MEMORY_SELECT_BIT)
#define SPI_SIMO (1u << WS_UCB0_MOSI_BIT)
#define SPI_SOMI (1u << WS_UCB0_MISO_BIT)
#define SPI_CLK (1u << WS_UCB0_SCK_BIT)
#define STORED_ENERGY (1u << WS_STORED_VOLTAGE_BIT)
#define MAINS_VOLTAGE (1u << WS_MAINS_VOLTAGE_BIT)
#define MAINS_CURRENT (1u << WS_MAINS_CURRENT_BIT)

/* The status register: interrupts allowed; what is off in the low-power modes ("Operating Modes"). */
#define SR_GIE 0x0008u
#define SR_LPM3 0x00d0u
#define SR_LPM4 0x00f0u

/* Waits for so many microseconds, up to 10 ms, and a little longer. */
#define WAIT_US(us) ws_msp430_wait((uint16_t)((us) * (WS_CLOCK_HZ / 1000u) / 5000u + 1u))

/* in: turns: 1 and up, five cycles each (SLAU208, "MSP430X CPU": NOP and DEC take one, a jump two). */
static inline void ws_msp430_wait(uint16_t turns)
{
    __asm__ volatile("1: nop\n\tnop\n\tdec %0\n\tjnz 1b" : "+r"(turns));
}

#endif
