#include "metering.h"

#include "../crypto/compiler.h"
#include "message.h"

void ws_metering_begin(ws_metering_sums *sums)
{
    sums->offset_u = (uint32_t)512 << 20;
    sums->offset_i = (uint32_t)512 << 20;
}

static WS_NOINLINE void smooth(uint32_t *mean, uint32_t value)
{
    *mean = *mean == 0 ? value : *mean - *mean / 8 + value / 8;
}

void ws_metering_add_windows(ws_metering_sums *sums, uint16_t windows, int32_t p0, int32_t p1, uint32_t uu,
                             uint32_t ii)
{
    sums->windows += windows;
    sums->p0 += (uint32_t)p0;
    sums->p1 += (uint32_t)p1;
    smooth(&sums->mean_uu, uu);
    smooth(&sums->mean_ii, ii);
}

void ws_metering_fold(ws_metering_sums *sums)
{
    ws_metering_add_windows(sums, 1, (sums->window_p0 + 32) >> 6, (sums->window_p1 + 32) >> 6, sums->window_uu,
                            sums->window_ii);
    sums->samples = 0;
    sums->window_p0 = 0;
    sums->window_p1 = 0;
    sums->window_uu = 0;
    sums->window_ii = 0;
}

/* Divides a number of 8 bytes, big-endian, in place. in: by: below 2^31. */
static WS_NOINLINE void divide(uint8_t number[8], uint32_t by)
{
    uint32_t rest = 0;
    uint8_t at;

    for (at = 0; at < 64; at++) {
        uint8_t *byte = number + at / 8;

        rest = rest << 1 | *byte >> 7;
        *byte = (uint8_t)(*byte << 1);
        if (rest >= by) {
            rest -= by;
            *byte |= 1;
        }
    }
}

/* f (1 + k (1 - f^2)) in 2^-14; k = (2 pi / 25)^2 / 6 = 0.010528. in: f: in 2^-14, -2 to 2. */
static WS_NOINLINE int16_t weight(int32_t f)
{
    int32_t k = (11039 * (16384 - (f / 2 * f >> 13))) >> 20;

    return (int16_t)(f + (f * k >> 14));
}

/* 0.1 Wh is 360 J, and that is 360 1250 10^12 / (micro_u micro_i) steps^2 of pairs of samples; a quarter of that,
 * 1.125 10^17, is 0x018fae27693b4000. */
int ws_metering_calibrate(ws_metering *metering, uint32_t micro_u, uint32_t micro_i, int16_t phase)
{
    uint8_t parts[8];
    int32_t f = (int32_t)phase * 64;

    if (micro_u - 1 >= 4000000 || micro_i - 1 >= 4000000 || phase < -256 || phase > 256) {
        return -1;
    }
    ws_message_write_32(parts, 0x018fae27);
    ws_message_write_32(parts + 4, 0x693b4000);
    divide(parts, micro_u);
    divide(parts, micro_i);
    if (ws_message_read_32(parts) != 0 || parts[4] >= 0x40) {
        return -1;
    }
    metering->unit = ws_message_read_32(parts + 4);
    metering->weight_0 = weight(16384 - f);
    metering->weight_1 = weight(f);
    metering->rest = 0;
    metering->net = 0;
    metering->net_rest = 0;
    metering->since = 0;
    return 0;
}

/* What was added to a sum since *before, times weight. Unsigned, where a fraction of 1.3 10^9 could be too much for a sign. */
static WS_NOINLINE uint32_t weighted(uint32_t sum, uint32_t *before, int16_t weight)
{
    int32_t added = (int32_t)(sum - *before);

    *before = sum;
    return (uint32_t)(added >> 14) * (uint32_t)(int32_t)weight + (uint32_t)((added & 0x3fff) * weight >> 14);
}

/* Adds parts to a rest, and takes whole units from it, or borrows them: it stays from 0 to below unit. Returns how many. */
static WS_NOINLINE int32_t carry(int32_t *rest, uint32_t parts, uint32_t unit)
{
    int32_t units = 0;
    int32_t left = (int32_t)((uint32_t)*rest + parts);

    while (left < 0) {
        left += (int32_t)unit;
        units--;
    }
    while (left >= (int32_t)unit) {
        left -= (int32_t)unit;
        units++;
    }
    *rest = left;
    return units;
}

void ws_metering_take(ws_metering *metering, const volatile ws_metering_sums *sums, uint32_t *energy)
{
    uint16_t windows;
    uint32_t p0;
    uint32_t p1;
    uint32_t parts;
    int32_t units;

    /* A window that ends meanwhile makes the two counts differ. */
    do {
        windows = sums->windows;
        p0 = sums->p0;
        p1 = sums->p1;
    } while (sums->windows != windows);
    parts = weighted(p0, &metering->p0, metering->weight_0) + weighted(p1, &metering->p1, metering->weight_1);
    metering->since += (uint16_t)(windows - metering->windows);
    metering->windows = windows;
    if (metering->unit == 0) {
        return;
    }
    metering->net += carry(&metering->net_rest, parts, metering->unit);
    units = carry(&metering->rest, parts, metering->unit);
    if (units >= 0) {
        *energy += (uint32_t)units;
    } else {
        metering->rest = 0;
    }
}

/* value factor / by; of what is too large the lowest bits go. 0 where by is 0. */
static WS_NOINLINE uint32_t scaled(uint32_t value, uint16_t factor, uint32_t by)
{
    while (value > UINT16_MAX) {
        value >>= 1;
        by >>= 1;
    }
    return by == 0 ? 0 : (value * factor + by / 2) / by;
}

int16_t ws_metering_power(ws_metering *metering)
{
    int32_t power = metering->net;
    int32_t since = (int32_t)metering->since;

    /* 0.1 Wh in 0.1 s are 3600 W. */
    while (power > 500000 || power < -500000) {
        power >>= 1;
        since >>= 1;
    }
    power = power * 3600 + (int32_t)scaled((uint32_t)metering->net_rest, 3600, metering->unit);
    metering->net = 0;
    metering->net_rest = 0;
    metering->since = 0;
    if (since == 0) {
        return 0;
    }
    if (power > 0) {
        power += since >> 1;
    }
    power /= since;
    return (int16_t)(power > INT16_MAX ? INT16_MAX : power < INT16_MIN ? INT16_MIN : power);
}

static uint16_t root(uint32_t value)
{
    uint16_t result = 0;
    uint16_t bit;

    for (bit = 0x8000; bit != 0; bit >>= 1) {
        uint16_t with = result | bit;

        if ((uint32_t)with * with <= value) {
            result = with;
        }
    }
    return result;
}

/* The root of a window's squares, micro a step, over what makes the unit of it. */
static WS_NOINLINE uint16_t rms(const volatile uint32_t *mean, uint32_t micro, uint32_t by)
{
    uint32_t value;

    do {
        value = *mean;
    } while (*mean != value);
    value = scaled(micro, root(value), by);
    return value > UINT16_MAX ? UINT16_MAX : (uint16_t)value;
}

/* sqrt(125 16) quarters of a step are a step of the mean: 44.72136; in 10^5 uV, and in 10^4 uA. */
uint16_t ws_metering_voltage(const volatile ws_metering_sums *sums, uint32_t micro_u)
{
    return rms(&sums->mean_uu, micro_u, 4472136);
}

uint16_t ws_metering_current(const volatile ws_metering_sums *sums, uint32_t micro_i)
{
    return rms(&sums->mean_ii, micro_i, 447214);
}
