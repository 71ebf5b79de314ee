/* Registers of the MSP430F5438A that the drivers share, by the chapters of SLAU208; and the board's pins (board.c). */
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

#define RADIO_GDO0 0x08u
#define RADIO_GDO2 0x20u
#define RADIO_SELECT 0x01u
#define MEMORY_SELECT 0x10u
#define SPI_SIMO 0x02u
#define SPI_SOMI 0x04u
#define SPI_CLK 0x08u
#define STORED_ENERGY 0x01u
#define MAINS_VOLTAGE 0x02u
#define MAINS_CURRENT 0x04u

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
