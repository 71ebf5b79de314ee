/* Clock of the STM32F0, reference manual RM0091: clock tree in section 6.2; no wait states up to 24 MHz, one up to 48 MHz
 * (section 3.5.1, FLASH_ACR). */
#define MAX_HZ 48000000
#define FLASH_WAIT_STATES (WS_CLOCK_HZ > 24000000 ? 1u : 0u)
#include "clock_hsi.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and multiples of 4 MHz up to 48 MHz from its internal oscillator"
#endif
