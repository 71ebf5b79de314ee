/* Clock of the STM32F100, reference manual RM0041: clock tree in section 6.2. The flash of the value line answers without
 * wait states at every clock it allows, and has neither latency nor prefetch to set. */
#if defined(WS_FLASH_WAIT_STATES) && WS_FLASH_WAIT_STATES != 0
#error "WAIT_STATES: the flash of the STM32F100 has none"
#endif
#define MAX_HZ 24000000
#include "clock_hsi.h"
#ifdef CLOCK_REFUSED
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and multiples of 4 MHz up to 24 MHz from its internal oscillator"
#endif
