/* Clock of the STM32F76x, reference manual RM0410.
 *
 * Registers touched: RCC_CR 0x40023800, RCC_PLLCFGR 0x40023804, RCC_CFGR 0x40023808, FLASH_ACR 0x40023c00; above 180 MHz
 * RCC_APB1ENR 0x40023840, PWR_CR1 0x40007000, PWR_CSR1 0x40007004; ICIALLU 0xe000ef50, DCISW 0xe000ef60,
 * CCR 0xe000ed14. */
#include "clock.h"

#define HSI_HZ 16000000
#define MAX_HZ 216000000

#define RCC_CR REGISTER(0x40023800)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)

/* The PLL, RCC_PLLCFGR: the HSI by 16 gives 1 MHz, times N gives the VCO, 100 to 432 MHz, by P (2, 4, 8) gives the core's
 * clock. Q is for USB, its limit of 48 MHz kept; the bits above are as after reset. */
#define RCC_PLLCFGR REGISTER(0x40023804)
#define PLL_P (WS_CLOCK_HZ >= 50000000 ? 2u : WS_CLOCK_HZ >= 25000000 ? 4u : 8u)
#define PLL_N (WS_CLOCK_HZ / 1000000 * PLL_P)
#define PLL_SETTING ((2u << 28) | (9u << 24) | ((PLL_P / 2 - 1) << 16) | (PLL_N << 6) | 16u)

#define RCC_CFGR REGISTER(0x40023808)
#define RCC_CFGR_SW_PLL (2u << 0)
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_SWS_PLL (2u << 2)
/* AHB divided by 2, 4, 8, 16. */
#define RCC_CFGR_HPRE(log2) ((7u + (log2)) << 4)
/* APB1 divided by 4, APB2 by 2: at most 54 and 108 MHz. */
#define RCC_CFGR_PPRE ((5u << 10) | (4u << 13))

#define FLASH_ACR REGISTER(0x40023c00)
#define FLASH_ACR_LATENCY 15u
/* Prefetch and accelerator serve the ITCM view of the flash alone; the AXI view has the caches of the core. */
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ARTEN (1u << 9)
#define FLASH_ACR_ACCELERATORS (FLASH_ACR_PRFTEN | FLASH_ACR_ARTEN)

/* Table 7, 2.7 to 3.6 V: one for each 30 MHz begun beyond the first. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES ((WS_CLOCK_HZ - 1u) / 30000000u)
#endif

/* Section 4.1.4, "Entering Over-drive mode": needed above 180 MHz (DS11532, general operating conditions). */
#define RCC_APB1ENR REGISTER(0x40023840)
#define RCC_APB1ENR_PWREN (1u << 28)
#define PWR_CR1 REGISTER(0x40007000)
#define PWR_CR1_ODEN (1u << 16)
#define PWR_CR1_ODSWEN (1u << 17)
#define PWR_CSR1 REGISTER(0x40007004)
#define PWR_CSR1_ODRDY (1u << 16)
#define PWR_CSR1_ODSWRDY (1u << 17)

/* ARMv7-M Architecture Reference Manual (DDI 0403), B3.2.8 and B2.2.7. The data cache has 16 kB in 4 ways of 128 lines
 * of 32 bytes (DS11532 section 2.1, DDI 0489): way in bits 31:30, set in bits 11:5 of DCISW. */
#define ICIALLU REGISTER(0xe000ef50)
#define DCISW REGISTER(0xe000ef60)
#define CCR REGISTER(0xe000ed14)
#define CCR_DC (1u << 16)
#define CCR_IC (1u << 17)
#define BARRIER() __asm__ volatile("dsb\n\tisb" ::: "memory")

static void enable_caches(void)
{
    uint32_t set;
    uint32_t way;

    BARRIER();
    ICIALLU = 0;
    for (way = 0; way < 4; way++) {
        for (set = 0; set < 128; set++) {
            DCISW = (way << 30) | (set << 5);
        }
    }
    BARRIER();
    CCR |= CCR_IC | CCR_DC;
    BARRIER();
}

void ws_clock_init(void)
{
    enable_caches();
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
#elif WS_CLOCK_HZ % 1000000 == 0 && WS_CLOCK_HZ >= 13000000 && WS_CLOCK_HZ <= MAX_HZ
    RCC_PLLCFGR = PLL_SETTING;
    RCC_CR |= RCC_CR_PLLON;
#if WS_CLOCK_HZ > 180000000
    RCC_APB1ENR |= RCC_APB1ENR_PWREN;
    PWR_CR1 |= PWR_CR1_ODEN;
    while (!(PWR_CSR1 & PWR_CSR1_ODRDY)) {
    }
    PWR_CR1 |= PWR_CR1_ODSWEN;
    while (!(PWR_CSR1 & PWR_CSR1_ODSWRDY)) {
    }
#endif
    while (!(RCC_CR & RCC_CR_PLLRDY)) {
    }
    RCC_CFGR = RCC_CFGR_PPRE;
    RCC_CFGR = RCC_CFGR_PPRE | RCC_CFGR_SW_PLL;
    while ((RCC_CFGR & RCC_CFGR_SWS) != RCC_CFGR_SWS_PLL) {
    }
#else
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and whole MHz from 13 to 216 from its internal oscillator"
#endif
}
