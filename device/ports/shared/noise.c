/* A sample of the source is a pair's lowest four bits of the voltage, and of the current: the converter's own noise, and that of
 * the mains. */
#include "noise.h"

#include "../../crypto/entropy.h"
#include "../../drivers/clock.h"

static volatile uint8_t noise;
static volatile uint8_t is_fresh;
static volatile uint8_t is_wanted;

uint8_t ws_noise_sampled(uint16_t voltage, uint16_t current)
{
    if (!is_wanted) {
        return 0;
    }
    noise = (uint8_t)((uint8_t)(voltage << 4) | (current & 0x0fu));
    is_wanted = 0;
    is_fresh = 1;
    return 1;
}

int ws_entropy_read(uint8_t *sample)
{
    is_fresh = 0;
    is_wanted = 1;
    /* Twenty pairs' time. */
    if (!ws_clock_sleep(ws_clock_ticks() + WS_CLOCK_TICKS / 64, &is_fresh)) {
        return -1;
    }
    *sample = noise;
    return 0;
}
