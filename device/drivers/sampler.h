/* Mains voltage and current, sampled in interrupts. Implemented by a port. */
#ifndef WS_DRIVERS_SAMPLER_H
#define WS_DRIVERS_SAMPLER_H

#include <stdint.h>

/* Pairs of samples a second: 25 a period at 50 Hz. */
#define WS_SAMPLER_HZ 1250

/* The sampler is the noise source, too: ws_entropy_read (crypto/entropy.h) is the port's, waits for a sample of the lowest bits of
 * the next conversions, and fails where the sampler was not started. That a sample has the min-entropy which the meter asks for
 * (meter.h) is an assumption, to be assessed on the part (SP 800-90B section 3.1). */

/* Begins to sample, for ever: for each pair of samples the port calls ws_metering_sample (meter/metering.h) in an interrupt.
 * A sample has 10 bits, 0 to 1023. */
void ws_sampler_start(void);

#endif
