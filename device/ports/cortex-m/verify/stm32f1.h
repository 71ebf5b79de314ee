/* Counter and UART of an STM32F1: USART1 at PA9, a blue pill's A9. RM0008, "Universal synchronous
 * asynchronous receiver transmitter", "General-purpose and alternate-function I/Os". APB2 has the
 * core's clock. */
#include "../../../verify/port.h"
#include "counter.h"

#define RCC_APB2ENR REGISTER(0x40021018u)
#define GPIOA_CRH REGISTER(0x40010804u)
#define USART_STATUS REGISTER(0x40013800u)
#define USART_DATA REGISTER(0x40013804u)
#define USART_BRR REGISTER(0x40013808u)
#define USART_CR1 REGISTER(0x4001380cu)

#define ENABLE_GPIOA (1u << 2)
#define ENABLE_USART1 (1u << 14)
#define CR1_TE (1u << 3)
#define CR1_UE (1u << 13)
/* PA9: an output of 10 MHz of an alternate function; 4 is a floating input, as after a reset. */
#define PA9(mode) ((mode) << 4)

void ws_verify_start(void)
{
    start_counter();
    RCC_APB2ENR |= ENABLE_GPIOA | ENABLE_USART1;
    GPIOA_CRH = (GPIOA_CRH & ~PA9(15u)) | PA9(9u);
    USART_BRR = (WS_CLOCK_HZ + WS_VERIFY_BAUD / 2) / WS_VERIFY_BAUD;
    USART_CR1 = CR1_UE | CR1_TE;
}

#include "usart.h"
