/* The clock and the memory system, one file a family: clock_<family>.c. */
#ifndef WS_CLOCK_H
#define WS_CLOCK_H

/* Sets wait states, buffers and caches of the flash for WS_CLOCK_HZ, then raises the core to that clock.
 *
 * WS_CLOCK_HZ and WS_FLASH_WAIT_STATES come from the build. Called once, out of reset. */
void ws_clock_init(void);

#endif
