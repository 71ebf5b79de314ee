/* UART, time, watchdog and the way into an image, of the MSP430F5438A. USCI_A0 at P3.4 (out) and P3.5 (in), 115,200 baud, 8 bits, no parity, one
 * stop bit. SLAU208, "Universal Serial Communication Interface, UART Mode", "Timer_A", "Watchdog Timer (WDT_A)"; pins as in SLAS655H. */
#include "../../../../boot/image.h"
#include "../../../../boot/port.h"

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define REGISTER_BYTE(address) (*(volatile uint8_t *)(address))

#define P3SEL REGISTER_BYTE(0x022a)
#define UART_PINS 0x30u

#define UCA0CTL1 REGISTER_BYTE(0x05c0)
#define UCA0BRW REGISTER(0x05c6)
#define UCA0MCTL REGISTER_BYTE(0x05c8)
#define UCA0STAT REGISTER_BYTE(0x05ca)
#define UCA0RXBUF REGISTER_BYTE(0x05cc)
#define UCA0TXBUF REGISTER_BYTE(0x05ce)
#define UCA0IFG REGISTER_BYTE(0x05dd)
#define UCSWRST 0x01u
#define UCSSEL_SMCLK 0x80u
#define UCBUSY 0x01u
#define UCRXIFG 0x01u
#define UCTXIFG 0x02u

#define TA0CTL REGISTER(0x0340)
#define TA0CCTL0 REGISTER(0x0342)
#define TA0R REGISTER(0x0350)
#define TA0CCR0 REGISTER(0x0352)
#define CCIFG 0x0001u
/* SMCLK, up to TA0CCR0, from 0 on. */
#define TACTL_START 0x0214u

#define WDTCTL REGISTER(0x015c)
/* The password, ACLK, which is REFO, cleared, 2^19 clocks: 16 s. The next ones are 1 s and 256 s. */
#define WDTCTL_START 0x5a2bu

/* Start-up makes SMCLK the multiple of REFO below the clock. */
#define REFO_HZ 32768ul
#define SMCLK_HZ (WS_CLOCK_HZ / REFO_HZ * REFO_HZ)
#define BAUD 115200ul

#define VECTORS 64

void ws_boot_port_start(void)
{
    UCA0CTL1 = UCSSEL_SMCLK | UCSWRST;
    UCA0BRW = SMCLK_HZ / BAUD;
    /* UCBRS: eighths of a clock, rounded. */
    UCA0MCTL = (SMCLK_HZ % BAUD * 8 + BAUD / 2) / BAUD << 1;
    P3SEL |= UART_PINS;
    UCA0CTL1 = UCSSEL_SMCLK;
    TA0CCR0 = SMCLK_HZ / 1000 - 1;
    TA0CTL = TACTL_START;
}

int16_t ws_uart_receive(void)
{
    /* Reading the buffer clears an overrun, too. */
    return UCA0IFG & UCRXIFG ? (int16_t)UCA0RXBUF : -1;
}

void ws_uart_send(uint8_t byte)
{
    while (!(UCA0IFG & UCTXIFG)) {
    }
    UCA0TXBUF = byte;
}

void ws_uart_flush(void)
{
    while (UCA0STAT & UCBUSY) {
    }
}

uint8_t ws_boot_ticked(void)
{
    if (!(TA0CCTL0 & CCIFG)) {
        return 0;
    }
    TA0CCTL0 = 0;
    return 1;
}

void ws_boot_watchdog(void)
{
    WDTCTL = WDTCTL_START;
}

void ws_boot_run(uint8_t slot, uint32_t floor)
{
    const uint16_t *vectors;
    volatile uint16_t *const to = (volatile uint16_t *)WS_BOOT_VECTORS;
    uint8_t i;

    ws_uart_flush();
    UCA0CTL1 = UCSWRST;
    UCA0BRW = 0;
    UCA0MCTL = 0;
    P3SEL &= (uint8_t)~UART_PINS;
    TA0CTL = 0;
    TA0R = 0;
    TA0CCTL0 = 0;
    TA0CCR0 = 0;
    while (ws_image_difference(slot, floor) != 0) {
    }
    vectors = (const uint16_t *)(uint16_t)(WS_BOOT_SLOT(slot) + WS_BOOT_HEADER + ws_image_difference(slot, floor));
    for (i = 0; i < VECTORS - 1; i++) {
        to[i] = vectors[i];
    }
    /* For a program that sets SYSRIVECT: a reset begins with the bootloader all the same. */
    to[VECTORS - 1] = REGISTER(0xfffe);
    __asm__ volatile("br %0" : : "r"(vectors[VECTORS - 1]));
    __builtin_unreachable();
}
