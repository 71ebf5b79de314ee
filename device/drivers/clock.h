/* A clock that goes on while the processor sleeps. Implemented by a port.
 *
 * Ticks: WS_CLOCK_TICKS a second, 32 bits, from 0 at start, around after 12 days (AVR: 3); compare their differences. A
 * deadline is at most 2^31 - 1 ticks ahead, 38 hours on the AVR. */
#ifndef WS_DRIVERS_CLOCK_H
#define WS_DRIVERS_CLOCK_H

#include <stdint.h>

/* What the port's clock divides: 16 MHz by 1024, or 32,768 Hz by 8; on a Cortex-M it is eight of each of the sampler's periods. */
#if defined(__AVR__)
#define WS_CLOCK_TICKS ((uint32_t)15625)
#elif defined(__arm__)
#define WS_CLOCK_TICKS ((uint32_t)10000)
#else
#define WS_CLOCK_TICKS ((uint32_t)4096)
#endif

/* Starts the clock, and allows interrupts. */
void ws_clock_start(void);

/* Ticks since then. */
uint32_t ws_clock_ticks(void);

/* Seconds since then: around after 136 years. */
uint32_t ws_clock_seconds(void);

/* Sleeps until deadline, or until an interrupt has made *event other than 0; returns at once where either is so already.
 * event may be a null pointer. Returns *event, or 0. */
uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event);

/* Sleeps for ever; only a reset wakes the part. */
void ws_clock_stop(void);

#endif
