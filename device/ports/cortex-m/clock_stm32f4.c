/* Clock of the STM32F405 and STM32F407, reference manual RM0090: APB1 and APB2 at most 42 and 84 MHz (section 7.2); from
 * 2.7 V up a wait state for each 30 MHz begun beyond the first (table 10). */
#define MAX_HZ 168000000
#define VCO_MIN_HZ 100000000
#define FLASH_WAIT_STATES ((WS_CLOCK_HZ - 1u) / 30000000u)
#define BUS_PRESCALERS (RCC_CFGR_PPRE1(2) | RCC_CFGR_PPRE2(1))
#include "clock_stm32f4.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and whole MHz from 13 to 168 from its internal oscillator"
#endif
