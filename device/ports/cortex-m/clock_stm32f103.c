/* Clock of the STM32F103, reference manual RM0008: clock tree in section 7.2 (APB1 at most 36 MHz); no wait states up to
 * 24 MHz, one up to 48 MHz, two up to 72 MHz, which the internal oscillator does not reach (section 3.3.3, FLASH_ACR). */
#define MAX_HZ 64000000
#define FLASH_WAIT_STATES (WS_CLOCK_HZ > 48000000 ? 2u : WS_CLOCK_HZ > 24000000 ? 1u : 0u)
#if WS_CLOCK_HZ > 36000000
#define APB1_PRESCALER RCC_CFGR_PPRE1_2
#endif
#include "clock_hsi.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and multiples of 4 MHz up to 64 MHz from its internal oscillator"
#endif
