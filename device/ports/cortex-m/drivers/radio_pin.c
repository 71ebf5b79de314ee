/* GDO0 of the CC2500 at PB1, external interrupt line 1. RM0090, "External interrupt/event controller" and "System configuration
 * controller". */
#include "../../shared/cc2500.h"

#include "registers.h"

#define SYSCFG_EXTICR1 REGISTER(0x40013808u)
#define EXTI_IMR REGISTER(0x40013c00u)
#define EXTI_FTSR REGISTER(0x40013c0cu)
#define EXTI_PR REGISTER(0x40013c14u)
#define LINE (1u << WS_RADIO_GDO0_BIT)
/* EXTI1 is from port B. */
#define EXTICR1_B (PORT_B << 4)
#define APB2_SYSCFG 0x4000u

void ws_interrupt_exti1(void);

void ws_cc2500_watch(void)
{
    RCC_APB2ENR |= APB2_SYSCFG;
    (void)RCC_APB2ENR;
    SYSCFG_EXTICR1 = EXTICR1_B;
    EXTI_FTSR = LINE;
    ws_radio_event = 0;
    EXTI_PR = LINE;
    EXTI_IMR = LINE;
    NVIC_ISER0 = 1u << IRQ_EXTI1;
}

void ws_cc2500_unwatch(void)
{
    EXTI_IMR = 0;
}

uint8_t ws_cc2500_busy(void)
{
    return (uint8_t)(GPIO_IDR(PORT_B) & LINE);
}

/* GDO0 fell: a packet has ended. */
void ws_interrupt_exti1(void)
{
    EXTI_PR = LINE;
    ws_radio_event = 1;
}
