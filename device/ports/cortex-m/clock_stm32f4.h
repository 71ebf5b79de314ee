/* Clock of the STM32F4.
 *
 * Before it is included: MAX_HZ, the fastest clock of the part; VCO_MIN_HZ, the slowest of its PLL's VCO; FLASH_WAIT_STATES, what
 * its flash needs at WS_CLOCK_HZ; BUS_PRESCALERS, RCC_CFGR's bits that keep APB1 and APB2 within their limits at MAX_HZ; where
 * the regulator is to be set before the PLL runs, PWR_CR_SETTING.
 * Registers touched: RCC_CR 0x40023800, RCC_PLLCFGR 0x40023804, RCC_CFGR 0x40023808, FLASH_ACR 0x40023c00; with
 * PWR_CR_SETTING RCC_APB1ENR 0x40023840, PWR_CR 0x40007000. */
#include "clock.h"

#define HSI_HZ 16000000

#define RCC_CR REGISTER(0x40023800)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)

/* The PLL, RCC_PLLCFGR: the HSI by 16 gives 1 MHz, times N gives the VCO, VCO_MIN_HZ to 432 MHz, by P (2, 4, 8) gives the core's
 * clock. Q is for USB, its limit of 48 MHz kept; the bits above are as after reset. */
#define RCC_PLLCFGR REGISTER(0x40023804)
#define PLL_P (WS_CLOCK_HZ >= VCO_MIN_HZ / 2 ? 2u : WS_CLOCK_HZ >= VCO_MIN_HZ / 4 ? 4u : 8u)
#define PLL_N (WS_CLOCK_HZ / 1000000 * PLL_P)
#define PLL_SETTING ((2u << 28) | (9u << 24) | ((PLL_P / 2 - 1) << 16) | (PLL_N << 6) | 16u)

#define RCC_CFGR REGISTER(0x40023808)
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
/* AHB divided by 2, 4, 8, 16. */
#define RCC_CFGR_HPRE(log2) ((7u + (log2)) << 4)
/* APB1 and APB2 divided by 2 or 4. */
#define RCC_CFGR_PPRE1(log2) ((3u + (log2)) << 10)
#define RCC_CFGR_PPRE2(log2) ((3u + (log2)) << 13)

#define RCC_APB1ENR REGISTER(0x40023840)
#define RCC_APB1ENR_PWREN (1u << 28)
#define PWR_CR REGISTER(0x40007000)
/* 3, 2 and 1 are scales 1, 2 and 3. */
#define PWR_CR_VOS(bits) ((bits) << 14)

#define FLASH_ACR REGISTER(0x40023c00)
#define FLASH_ACR_LATENCY 7u
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)
#define FLASH_ACR_ACCELERATORS (FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)

#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES FLASH_WAIT_STATES
#endif

void ws_clock_init(void)
{
    FLASH_ACR = FLASH_ACR_ACCELERATORS | WS_FLASH_WAIT_STATES;
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
#elif WS_CLOCK_HZ == HSI_HZ / 16
    RCC_CFGR = RCC_CFGR_HPRE(4);
#elif WS_CLOCK_HZ % 1000000 == 0 && WS_CLOCK_HZ >= VCO_MIN_HZ / 8 && WS_CLOCK_HZ <= MAX_HZ
#ifdef PWR_CR_SETTING
    RCC_APB1ENR |= RCC_APB1ENR_PWREN;
    PWR_CR = PWR_CR_SETTING;
#endif
    RCC_PLLCFGR = PLL_SETTING;
    RCC_CR |= RCC_CR_PLLON;
    while (!(RCC_CR & RCC_CR_PLLRDY)) {
    }
    RCC_CFGR = BUS_PRESCALERS;
    RCC_CFGR = BUS_PRESCALERS | RCC_CFGR_SW_PLL;
    while ((RCC_CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
#else
/* The file that includes this says what its part makes. */
#define CLOCK_REFUSED
#endif
}
