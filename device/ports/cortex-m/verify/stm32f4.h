/* Counter and UART of an STM32F4: USART2 at PA2, which is a Nucleo's USB. RM0090, "Universal
 * synchronous asynchronous receiver transmitter"; alternate function 7 as in DS8626. */
#include "../../../verify/port.h"
#include "counter.h"

#define RCC_CFGR REGISTER(0x40023808u)
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB1ENR REGISTER(0x40023840u)
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_AFRL REGISTER(0x40020020u)
#define USART_STATUS REGISTER(0x40004400u)
#define USART_DATA REGISTER(0x40004404u)
#define USART_BRR REGISTER(0x40004408u)
#define USART_CR1 REGISTER(0x4000440cu)

#define ENABLE_GPIOA (1u << 0)
#define ENABLE_USART2 (1u << 17)
#define CR1_TE (1u << 3)
#define CR1_UE (1u << 13)
/* PA2: MODER 2 is an alternate function. */
#define PA2_ALTERNATE (2u << 4)
#define PA2_AF7 (7u << 8)
/* PPRE1 in bits 10 to 12: 4 divides by 2, 5 by 4. */
#define APB1_HZ (WS_CLOCK_HZ >> (RCC_CFGR & (1u << 12) ? (RCC_CFGR >> 10 & 3u) + 1u : 0u))

void ws_verify_start(void)
{
    start_counter();
    RCC_AHB1ENR |= ENABLE_GPIOA;
    RCC_APB1ENR |= ENABLE_USART2;
    GPIOA_AFRL |= PA2_AF7;
    GPIOA_MODER |= PA2_ALTERNATE;
    USART_BRR = (APB1_HZ + WS_VERIFY_BAUD / 2) / WS_VERIFY_BAUD;
    USART_CR1 = CR1_UE | CR1_TE;
}

#include "usart.h"
