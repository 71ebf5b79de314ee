/* The clock and the memory system, one file a family: clock_<family>.c. All run from an internal oscillator, so that they work on
 * any board, but nrf52840 and rp2040, whose crystals are the same on all.
 *
 * WS_CLOCK_HZ comes from the build. WS_FLASH_WAIT_STATES may; without it the file of the family chooses what the
 * reference manual asks for at a supply of 2.7 to 3.6 V. */
#ifndef WS_CLOCK_H
#define WS_CLOCK_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Sets wait states, buffers and caches of the flash, then brings the core to WS_CLOCK_HZ. Called once, out of reset. */
void ws_clock_init(void);

#endif
