/* Clock of the CH32V003, reference manual CH32V003RM V1.4. It runs from the internal oscillator (HSI), so that it works on any board.
 *
 * Registers touched, besides reading them back: FLASH_ACTLR 0x40022000, RCC_CTLR 0x40021000, RCC_CFGR0 0x40021004. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Section 3.3.4: the PLL doubles the oscillator. */
#define HSI_HZ 24000000
#define PLL_HZ (2 * HSI_HZ)

#define RCC_CTLR REGISTER(0x40021000)
#define RCC_CTLR_PLLON (1u << 24)
#define RCC_CTLR_PLLRDY (1u << 25)

#define RCC_CFGR0 REGISTER(0x40021004)
#define RCC_CFGR0_SW_PLL (2u << 0)
#define RCC_CFGR0_SWS (3u << 2)
#define RCC_CFGR0_SWS_PLL (2u << 2)
/* HCLK is SYSCLK divided by 1 to 8. */
#define RCC_CFGR0_HPRE(divider) (((divider)-1u) << 4)

#define FLASH_ACTLR REGISTER(0x40022000)

/* Section 16.3.1, FLASH_ACTLR: none up to a SYSCLK of 24 MHz, one up to 48 MHz. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES (WS_CLOCK_HZ > HSI_HZ ? 1u : 0u)
#endif

/* Sets the wait states of the flash, then brings the core to WS_CLOCK_HZ. Called once, out of reset. */
void ws_clock_init(void);

void ws_clock_init(void)
{
    FLASH_ACTLR = WS_FLASH_WAIT_STATES;
#if WS_CLOCK_HZ == PLL_HZ
    RCC_CTLR |= RCC_CTLR_PLLON;
    while (!(RCC_CTLR & RCC_CTLR_PLLRDY)) {
    }
    RCC_CFGR0 = RCC_CFGR0_SW_PLL;
    while ((RCC_CFGR0 & RCC_CFGR0_SWS) != RCC_CFGR0_SWS_PLL) {
    }
#elif HSI_HZ % WS_CLOCK_HZ == 0 && WS_CLOCK_HZ <= HSI_HZ && WS_CLOCK_HZ >= HSI_HZ / 8
    RCC_CFGR0 = RCC_CFGR0_HPRE(HSI_HZ / WS_CLOCK_HZ);
#else
#error "CLOCK: this part makes 48 MHz, and 24 MHz divided by 1 to 8, from its internal oscillator"
#endif
}
