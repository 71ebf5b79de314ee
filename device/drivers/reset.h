/* Why the part began anew, and how to make it do so. Implemented by a port. */
#ifndef WS_DRIVERS_RESET_H
#define WS_DRIVERS_RESET_H

#include <stdint.h>

#define WS_RESET_POWER_ON 1
#define WS_RESET_EXTERNAL 2
#define WS_RESET_BROWN_OUT 3
#define WS_RESET_WATCHDOG 4
#define WS_RESET_COMMANDED 5
#define WS_RESET_UNKNOWN 6

/* The cause of the last reset. A reset by ws_reset_now is WS_RESET_COMMANDED. To be called once, at the start. */
uint8_t ws_reset_cause(void);

/* Starts the watchdog: without ws_watchdog_feed for about 8 seconds the part resets. */
void ws_watchdog_start(void);
void ws_watchdog_feed(void);

/* Resets the part. Does not return. */
void ws_reset_now(void);

/* Bytes of the stack's room, from its far end on, that were never touched since the start. */
uint16_t ws_stack_untouched(void);

#endif
