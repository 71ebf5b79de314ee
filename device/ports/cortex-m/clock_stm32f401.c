/* Clock of the STM32F401, data sheet DS9716: APB1 and APB2 at most 42 and 84 MHz (table 14); from 2.7 V up no wait states up to
 * 30 MHz, one up to 60, two above (ST's stm32f401xc.h, as table 15); the VCO makes 192 MHz at least (table 41); the regulator in
 * scale 3 up to 60 MHz, in scale 2 above (table 14), chosen while the PLL is off. */
#define MAX_HZ 84000000
#define VCO_MIN_HZ 192000000
#define FLASH_WAIT_STATES ((WS_CLOCK_HZ - 1u) / 30000000u)
#define BUS_PRESCALERS RCC_CFGR_PPRE1(1)
#define PWR_CR_SETTING PWR_CR_VOS(WS_CLOCK_HZ > 60000000 ? 2u : 1u)
#include "clock_stm32f4.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8, 16 MHz and whole MHz from 24 to 84 from its internal oscillator"
#endif
