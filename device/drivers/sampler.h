/* Mains voltage and current, sampled in interrupts. Implemented by a port. */
#ifndef WS_DRIVERS_SAMPLER_H
#define WS_DRIVERS_SAMPLER_H

#include <stdint.h>

/* Pairs of samples a second: 25 a period at 50 Hz. */
#define WS_SAMPLER_HZ 1250

/* Begins to sample, for ever: for each pair of samples the port calls ws_metering_sample (meter/metering.h) in an interrupt.
 * A sample has 10 bits, 0 to 1023. */
void ws_sampler_start(void);

#endif
