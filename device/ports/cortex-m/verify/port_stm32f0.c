/* Counter and UART of the STM32F051: USART1 at PA9. RM0091, "Universal synchronous asynchronous
 * receiver transmitter"; alternate function 1 as in DS8597. The APB has the core's clock. */
#include "../../../verify/port.h"
#include "counter.h"

#define RCC_AHBENR REGISTER(0x40021014u)
#define RCC_APB2ENR REGISTER(0x40021018u)
#define GPIOA_MODER REGISTER(0x48000000u)
#define GPIOA_AFRH REGISTER(0x48000024u)
#define USART_CR1 REGISTER(0x40013800u)
#define USART_BRR REGISTER(0x4001380cu)
#define USART_STATUS REGISTER(0x4001381cu)
#define USART_DATA REGISTER(0x40013828u)

#define ENABLE_GPIOA (1u << 17)
#define ENABLE_USART1 (1u << 14)
#define CR1_UE (1u << 0)
#define CR1_TE (1u << 3)
/* PA9: MODER 2 is an alternate function. */
#define PA9_ALTERNATE (2u << 18)
#define PA9_AF1 (1u << 4)

void ws_verify_start(void)
{
    start_counter();
    RCC_AHBENR |= ENABLE_GPIOA;
    RCC_APB2ENR |= ENABLE_USART1;
    GPIOA_AFRH |= PA9_AF1;
    GPIOA_MODER |= PA9_ALTERNATE;
    USART_BRR = (WS_CLOCK_HZ + WS_VERIFY_BAUD / 2) / WS_VERIFY_BAUD;
    USART_CR1 = CR1_UE | CR1_TE;
}

#include "usart.h"
