/* Counter and UART of the CH32V003: its SysTick at the core's clock, and USART1 at PD5. CH32V003RM
 * V1.4, chapters 6, 7 and 12; QingKeV2 manual, chapter 5. */
#include "../../../verify/port.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define STK_CTLR REGISTER(0xe000f000u)
#define STK_CNTL REGISTER(0xe000f008u)
/* It counts, and the core's clock undivided. */
#define STK_CTLR_STE (1u << 0)
#define STK_CTLR_STCLK (1u << 2)

#define RCC_APB2PCENR REGISTER(0x40021018u)
#define GPIOD_CFGLR REGISTER(0x40011400u)
#define USART1_STATR REGISTER(0x40013800u)
#define USART1_DATAR REGISTER(0x40013804u)
#define USART1_BRR REGISTER(0x40013808u)
#define USART1_CTLR1 REGISTER(0x4001380cu)

#define ENABLE_GPIOD (1u << 5)
#define ENABLE_USART1 (1u << 14)
#define CTLR1_TE (1u << 3)
#define CTLR1_UE (1u << 13)
#define STATR_TC (1u << 6)
#define STATR_TXE (1u << 7)
/* PD5: an output of 10 MHz of an alternate function. */
#define PD5(mode) ((mode) << 20)

void ws_verify_start(void)
{
    STK_CTLR = STK_CTLR_STCLK | STK_CTLR_STE;
    RCC_APB2PCENR |= ENABLE_GPIOD | ENABLE_USART1;
    GPIOD_CFGLR = (GPIOD_CFGLR & ~PD5(15u)) | PD5(9u);
    USART1_BRR = (WS_CLOCK_HZ + WS_VERIFY_BAUD / 2) / WS_VERIFY_BAUD;
    USART1_CTLR1 = CTLR1_UE | CTLR1_TE;
}

void ws_verify_begin(void)
{
    STK_CNTL = 0;
}

uint32_t ws_verify_end(void)
{
    return STK_CNTL;
}

void ws_verify_send(uint8_t byte)
{
    while (!(USART1_STATR & STATR_TXE)) {
    }
    USART1_DATAR = byte;
}

void ws_verify_flush(void)
{
    while (!(USART1_STATR & STATR_TC)) {
    }
}
