/* Clock of the STM32 families whose PLL multiplies half of an internal oscillator (HSI) of 8 MHz.
 *
 * Before it is included: MAX_HZ, the fastest clock that the PLL makes of it; FLASH_WAIT_STATES, what the flash needs at
 * WS_CLOCK_HZ, where FLASH_ACR has it to be set. The registers lie at the same addresses in all of them.
 * Registers touched, besides reading them back: FLASH_ACR 0x40022000, RCC_CR 0x40021000, RCC_CFGR 0x40021004. */
#include "clock.h"

#define HSI_HZ 8000000
#define PLL_INPUT_HZ (HSI_HZ / 2)

#define RCC_CR REGISTER(0x40021000)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)

#define RCC_CFGR REGISTER(0x40021004)
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
/* AHB divided by 2, 4, 8. */
#define RCC_CFGR_HPRE(log2) ((7u + (log2)) << 4)
/* APB1 divided by 2. */
#define RCC_CFGR_PPRE1_2 (4u << 8)
#define RCC_CFGR_PLLMUL(factor) (((factor) - 2u) << 18)

#define FLASH_ACR REGISTER(0x40022000)
#define FLASH_ACR_LATENCY 7u
#define FLASH_ACR_PRFTBE (1u << 4)

#ifndef APB1_PRESCALER
#define APB1_PRESCALER 0u
#endif

#if defined(FLASH_WAIT_STATES) && !defined(WS_FLASH_WAIT_STATES)
#define WS_FLASH_WAIT_STATES FLASH_WAIT_STATES
#endif

void ws_clock_init(void)
{
#ifdef FLASH_WAIT_STATES
    FLASH_ACR = FLASH_ACR_PRFTBE | WS_FLASH_WAIT_STATES;
    while ((FLASH_ACR & FLASH_ACR_LATENCY) != WS_FLASH_WAIT_STATES) {
    }
#endif
#if WS_CLOCK_HZ == HSI_HZ
    /* The clock after reset. */
#elif WS_CLOCK_HZ == HSI_HZ / 2
    RCC_CFGR = RCC_CFGR_HPRE(1);
#elif WS_CLOCK_HZ == HSI_HZ / 4
    RCC_CFGR = RCC_CFGR_HPRE(2);
#elif WS_CLOCK_HZ == HSI_HZ / 8
    RCC_CFGR = RCC_CFGR_HPRE(3);
#elif WS_CLOCK_HZ % PLL_INPUT_HZ == 0 && WS_CLOCK_HZ > HSI_HZ && WS_CLOCK_HZ <= MAX_HZ
    RCC_CFGR = RCC_CFGR_PLLMUL(WS_CLOCK_HZ / PLL_INPUT_HZ) | APB1_PRESCALER;
    RCC_CR |= RCC_CR_PLLON;
    while (!(RCC_CR & RCC_CR_PLLRDY)) {
    }
    RCC_CFGR |= RCC_CFGR_SW_PLL;
    while ((RCC_CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
#else
/* The file that includes this says what its part makes. */
#define CLOCK_REFUSED
#endif
}
