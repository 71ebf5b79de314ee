#include "metering.h"

#include "../crypto/compiler.h"

/* A sample less its offset, in quarters of a step; moves the offset on. */
static WS_NOINLINE int16_t without_offset(uint32_t *offset, uint16_t sample)
{
    int32_t over = (int32_t)((uint32_t)(uint16_t)(sample << 4) << 16) - (int32_t)*offset;

    *offset += (uint32_t)(over >> 10);
    return (int16_t)((int16_t)((over + 0x20000) >> 16) >> 2);
}

/* The sums stay below 2^31: 125 (4 1023)^2 in a window. */
void ws_metering_add(ws_metering_sums *sums, uint16_t voltage, uint16_t current)
{
    int16_t u = without_offset(&sums->offset_u, voltage);
    int16_t i = without_offset(&sums->offset_i, current);

    sums->window_p0 += (int32_t)u * i;
    sums->window_p1 += (int32_t)u * sums->last_i;
    sums->window_uu += (uint32_t)((int32_t)u * u);
    sums->window_ii += (uint32_t)((int32_t)i * i);
    sums->last_i = i;
    if (++sums->samples == WS_METERING_WINDOW) {
        ws_metering_fold(sums);
    }
}
