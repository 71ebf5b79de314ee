/* Clock of the STM32F100, reference manual RM0041.
 *
 * Registers touched: RCC_CR 0x40021000, RCC_CFGR 0x40021004. The flash of the value line answers without wait states at
 * every clock it allows, and has neither latency nor prefetch to set. */
#include "clock.h"

/* Section 6.2, clock tree. */
#define HSI_HZ 8000000
#define PLL_INPUT_HZ (HSI_HZ / 2)
#define MAX_HZ 24000000

#define RCC_CR REGISTER(0x40021000)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)

#define RCC_CFGR REGISTER(0x40021004)
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
/* AHB divided by 2, 4, 8. */
#define RCC_CFGR_HPRE(log2) ((7u + (log2)) << 4)
#define RCC_CFGR_PLLMUL(factor) (((factor) - 2u) << 18)

#if defined(WS_FLASH_WAIT_STATES) && WS_FLASH_WAIT_STATES != 0
#error "WAIT_STATES: the flash of the STM32F100 has none"
#endif

void ws_clock_init(void)
{
#if WS_CLOCK_HZ == HSI_HZ
    /* The clock after reset. */
#elif WS_CLOCK_HZ == HSI_HZ / 2
    RCC_CFGR = RCC_CFGR_HPRE(1);
#elif WS_CLOCK_HZ == HSI_HZ / 4
    RCC_CFGR = RCC_CFGR_HPRE(2);
#elif WS_CLOCK_HZ == HSI_HZ / 8
    RCC_CFGR = RCC_CFGR_HPRE(3);
#elif WS_CLOCK_HZ % PLL_INPUT_HZ == 0 && WS_CLOCK_HZ > HSI_HZ && WS_CLOCK_HZ <= MAX_HZ
    RCC_CFGR = RCC_CFGR_PLLMUL(WS_CLOCK_HZ / PLL_INPUT_HZ);
    RCC_CR |= RCC_CR_PLLON;
    while (!(RCC_CR & RCC_CR_PLLRDY)) {
    }
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    while ((RCC_CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
#else
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and multiples of 4 MHz up to 24 MHz from its internal oscillator"
#endif
}
