/* Clock of the STM32L4R5, reference manual RM0432.
 *
 * Registers touched: RCC_CR 0x40021000, RCC_CFGR 0x40021008, RCC_PLLCFGR 0x4002100c, RCC_APB1ENR1 0x40021058,
 * PWR_CR5 0x40007080, FLASH_ACR 0x40022000. */
#include "clock.h"

#define HSI_HZ 16000000
#define MAX_HZ 120000000

#define RCC_CR REGISTER(0x40021000)
#define RCC_CR_HSION (1u << 8)
#define RCC_CR_HSIRDY (1u << 10)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)

#define RCC_CFGR REGISTER(0x40021008)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SW_HSI 1u
#define RCC_CFGR_SW_PLL 3u
/* AHB divided by 2, 4, 8, 16. */
#define RCC_CFGR_HPRE(log2) ((7u + (log2)) << 4)

/* The PLL, RCC_PLLCFGR: the HSI by 4 gives 4 MHz, times N (8 to 127) the VCO, 64 to 344 MHz, by R (2 or 4) the core's clock. */
#define RCC_PLLCFGR REGISTER(0x4002100c)
#define PLL_R (WS_CLOCK_HZ <= 86000000 ? 4u : 2u)
#define PLL_N (WS_CLOCK_HZ / 1000000 * PLL_R / 4)
#define PLL_SETTING (((PLL_R / 2 - 1) << 25) | (1u << 24) | (PLL_N << 8) | (3u << 4) | 2u)

/* Range 1's boost mode, above 80 MHz: R1MODE clear (section 5.1.8). */
#define RCC_APB1ENR1 REGISTER(0x40021058)
#define RCC_APB1ENR1_PWREN (1u << 28)
#define PWR_CR5 REGISTER(0x40007080)
#define PWR_CR5_R1MODE (1u << 8)

#define FLASH_ACR REGISTER(0x40022000)
#define FLASH_ACR_LATENCY 15u
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)
#define FLASH_ACR_ACCELERATORS (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)

/* Section 3.3.3, range 1: one for each 20 MHz begun beyond the first. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES ((WS_CLOCK_HZ - 1u) / 20000000u)
#endif

#if WS_CLOCK_HZ > HSI_HZ
#define SOURCE RCC_CFGR_SW_PLL
#define PRESCALER 0u
#if WS_CLOCK_HZ % 1000000 != 0 || WS_CLOCK_HZ > MAX_HZ || WS_CLOCK_HZ > 86000000 && WS_CLOCK_HZ % 2000000 != 0
#define REFUSED
#endif
#else
#define SOURCE RCC_CFGR_SW_HSI
#if WS_CLOCK_HZ == HSI_HZ
#define PRESCALER 0u
#elif WS_CLOCK_HZ == HSI_HZ / 2
#define PRESCALER RCC_CFGR_HPRE(1)
#elif WS_CLOCK_HZ == HSI_HZ / 4
#define PRESCALER RCC_CFGR_HPRE(2)
#elif WS_CLOCK_HZ == HSI_HZ / 8
#define PRESCALER RCC_CFGR_HPRE(3)
#elif WS_CLOCK_HZ == HSI_HZ / 16
#define PRESCALER RCC_CFGR_HPRE(4)
#else
#define REFUSED
#endif
#endif

void ws_clock_init(void)
{
#ifdef REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz, whole MHz from 16 to 86 and even ones to 120 from its internal oscillator"
#else
    FLASH_ACR = FLASH_ACR_ACCELERATORS | WS_FLASH_WAIT_STATES;
    while ((FLASH_ACR & FLASH_ACR_LATENCY) != WS_FLASH_WAIT_STATES) {
    }
#if WS_CLOCK_HZ > 80000000
    RCC_APB1ENR1 |= RCC_APB1ENR1_PWREN;
    PWR_CR5 &= ~PWR_CR5_R1MODE;
#endif
    RCC_CR |= RCC_CR_HSION;
    while (!(RCC_CR & RCC_CR_HSIRDY)) {
    }
#if WS_CLOCK_HZ > HSI_HZ
    RCC_PLLCFGR = PLL_SETTING;
    RCC_CR |= RCC_CR_PLLON;
    while (!(RCC_CR & RCC_CR_PLLRDY)) {
    }
#endif
    RCC_CFGR = PRESCALER | SOURCE;
    while ((RCC_CFGR & RCC_CFGR_SWS) != SOURCE << 2) {
    }
#endif
}
