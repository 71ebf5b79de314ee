/* Clock of the STM32F0, reference manual RM0091.
 *
 * Registers touched, besides reading them back: FLASH_ACR 0x40022000, RCC_CR 0x40021000, RCC_CFGR 0x40021004. */
#include "clock.h"

/* Section 6.2, clock tree. */
#define HSI_HZ 8000000
#define PLL_INPUT_HZ (HSI_HZ / 2)
#define MAX_HZ 48000000

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

#define FLASH_ACR REGISTER(0x40022000)
#define FLASH_ACR_LATENCY 7u
#define FLASH_ACR_PRFTBE (1u << 4)

/* Section 3.5.1, FLASH_ACR: none up to 24 MHz, one up to 48 MHz. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES (WS_CLOCK_HZ > 24000000 ? 1u : 0u)
#endif

void ws_clock_init(void)
{
    FLASH_ACR = FLASH_ACR_PRFTBE | WS_FLASH_WAIT_STATES;
    while ((FLASH_ACR & FLASH_ACR_LATENCY) != WS_FLASH_WAIT_STATES) {
    }
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
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and multiples of 4 MHz up to 48 MHz from its internal oscillator"
#endif
}
