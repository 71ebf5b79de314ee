/* The noise of the sampler's conversions, for entropy (crypto/entropy.h). */
#ifndef WS_SHARED_NOISE_H
#define WS_SHARED_NOISE_H

#include <stdint.h>

/* Called by the sampler's interrupt with each pair, 12 bits each. Returns whether somebody waits for it, so that the processor has
 * to stay awake. */
uint8_t ws_noise_sampled(uint16_t voltage, uint16_t current);

#endif
