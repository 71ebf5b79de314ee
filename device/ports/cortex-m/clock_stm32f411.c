/* Clock of the STM32F411, reference manual RM0383: APB1 and APB2 at most 50 and 100 MHz (section 6.2); from 2.7 V up no wait
 * states up to 30 MHz, one up to 64, two up to 90, three up to 100 (table 5); the regulator in scale 1, which all clocks above
 * 84 MHz need, and which can be chosen while the PLL is off (section 5.4.1). */
#define MAX_HZ 100000000
#define VCO_MIN_HZ 100000000
#define FLASH_WAIT_STATES \
    (WS_CLOCK_HZ > 90000000 ? 3u : WS_CLOCK_HZ > 64000000 ? 2u : WS_CLOCK_HZ > 30000000 ? 1u : 0u)
#define BUS_PRESCALERS RCC_CFGR_PPRE1(1)
#define PWR_CR_SETTING PWR_CR_VOS(3u)
#include "clock_stm32f4.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and whole MHz from 13 to 100 from its internal oscillator"
#endif
