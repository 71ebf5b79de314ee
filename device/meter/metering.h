/* Real power, energy and RMS values from samples of voltage and current.
 *
 * The samples, 0 to 1023, have an offset of about half of that in both channels, which a low-pass of 1024 samples (0.8 s)
 * follows and which is taken off. What both channels lose by that is the same, amplitude and phase: 8 millionths at 50 Hz. It
 * begins with 512: an error of 20 steps in both decays with it, and is 20^2 steps^2 of 10^5 at full scale for 0.4 s.
 *
 * Sums are kept for windows of 125 samples, 0.1 s: 5 periods at 50 Hz, 6 at 60 Hz; in quarters of a step, so that 32 bits
 * hold them for any samples. Whole windows go on, rounded to 4 steps^2.
 *
 * Phase: the two samples of a pair are not of the same instant, and transformers turn phases by different angles. Beside the
 * sum P0 of u(n) i(n) there is P1 of u(n + 1) i(n). With a the angle of a sine per interval, a voltage taken a fraction f
 * of an interval later gives (sin((1 - f) a) P0 + sin(f a) P1) / sin(a), exactly. The weights are those for 50 Hz, to second
 * order: (1 - f) (1 + k (1 - (1 - f)^2)) and f (1 + k (1 - f^2)), k = a^2 / 6. What that leaves of the amplitude's error:
 *
 *      f            0.14       0.5         1       -0.25      -0.5
 *    50 Hz        -0.002 %   -0.005 %    0 %     +0.004 %   +0.003 %
 *    60 Hz        -0.17      -0.35       0       +0.43      +1.0
 *    150 Hz       -2.9       -6.3        0       +7.3       +16.5
 *    250 Hz       -8.2       -18.5       0       +19        +41
 *
 * So harmonics, which carry little real power where the voltage is nearly a sine, count a little less than they should, and
 * the voltage should be sampled before the current: then f is seldom negative.
 *
 * Energy is counted in parts of 4 steps^2 of a pair of samples. 0.1 Wh is a whole number of those, the unit: 1,406,250 with
 * 0.8 V and 0.1 A a step, where its rounding makes 4 in 10^7. No rounding adds up. What flows back is taken off, as far as
 * it is from the last whole 0.1 Wh; the rest is not counted. The energy is in RAM: it begins with 0 at each start. */
#ifndef WS_METER_METERING_H
#define WS_METER_METERING_H

#include <stdint.h>

#define WS_METERING_WINDOW 125

/* What a sampler's interrupt adds to. All zeros at first, and ws_metering_begin. */
typedef struct {
    /* Offsets in 2^-20 steps. */
    uint32_t offset_u;
    uint32_t offset_i;
    /* Of the window under way, in 1/16 steps^2: P0, P1, squares. */
    int32_t window_p0;
    int32_t window_p1;
    uint32_t window_uu;
    uint32_t window_ii;
    /* P0 and P1 of all whole windows since the start, in 4 steps^2, around. */
    uint32_t p0;
    uint32_t p1;
    /* Squares of a window, smoothed over 8. */
    uint32_t mean_uu;
    uint32_t mean_ii;
    /* The last sample of the current, less its offset, in 1/4 steps. */
    int16_t last_i;
    /* Whole windows since the start, around. */
    uint16_t windows;
    uint8_t samples;
} ws_metering_sums;

/* What the meter makes of them. */
typedef struct {
    /* Parts for 0.1 Wh, below 2^30; 0 without a calibration. Weights of P0 and P1 in 2^-14: up to 1.94. */
    uint32_t unit;
    int16_t weight_0;
    int16_t weight_1;
    /* The sums as they were taken last. */
    uint32_t p0;
    uint32_t p1;
    uint16_t windows;
    /* Parts that have not become energy, below unit. */
    int32_t rest;
    /* Since the last ws_metering_power: energy in 0.1 Wh and, below unit, in parts; windows. */
    int32_t net;
    int32_t net_rest;
    uint32_t since;
} ws_metering;

/* Called by the sampler (drivers/sampler.h) in an interrupt, for ws_metering_add on the sums of the program. */
void ws_metering_sample(uint16_t voltage, uint16_t current);

/* Adds a pair of samples. in: 0 to 1023. In a file of its own, metering_add.c, which a port may have in assembly: it takes most of
 * the meter's time. */
void ws_metering_add(ws_metering_sums *sums, uint16_t voltage, uint16_t current);

/* Ends the window under way. For ws_metering_add. */
void ws_metering_fold(ws_metering_sums *sums);

/* Sets the offsets to the middle. out: sums. */
void ws_metering_begin(ws_metering_sums *sums);

/* Adds whole windows at once: for a host without samples.
 *
 * in: p0, p1: sums over all of them in 4 steps^2; uu, ii: over one in 1/16 steps^2. */
void ws_metering_add_windows(ws_metering_sums *sums, uint16_t windows, int32_t p0, int32_t p1, uint32_t uu,
                             uint32_t ii);

/* Sets the calibration. What has not become 0.1 Wh is dropped.
 *
 * in:  micro_u, micro_i: voltage in uV and current in uA per step, each 1 to 4,000,000, and their product at least 1.1 10^8;
 *      phase: in 1/256 of a sampling interval, by which the voltage is to be taken later, -256 to 256.
 * in/out: metering, all 0 at first.
 * Returns 0; or -1 for another calibration, metering untouched. */
int ws_metering_calibrate(ws_metering *metering, uint32_t micro_u, uint32_t micro_i, int16_t phase);

/* Takes what the interrupt has summed up, and adds it to *energy, in 0.1 Wh, around at 2^32. To be called at least each
 * 10 s: 32 bits hold 13 s at full scale. Interrupts may add to the sums meanwhile. */
void ws_metering_take(ws_metering *metering, const volatile ws_metering_sums *sums, uint32_t *energy);

/* The mean power in W since it was asked last, limited to 16 bits; 0 where nothing was sampled. */
int16_t ws_metering_power(ws_metering *metering);

/* RMS values of the last 0.8 s or so: voltage in 0.1 V, current in 0.01 A, limited to 16 bits. in: micro_u, micro_i: as for
 * ws_metering_calibrate. */
uint16_t ws_metering_voltage(const volatile ws_metering_sums *sums, uint32_t micro_u);
uint16_t ws_metering_current(const volatile ws_metering_sums *sums, uint32_t micro_i);

#endif
