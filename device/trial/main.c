/* The meter's drivers, one call at a time, for tests on the model: the host writes ws_trial at ws_trial_ready, runs on, and reads it
 * at the next ws_trial_ready. */
#include "compiler.h"

#include "../crypto/entropy.h"
#include "../drivers/board.h"
#include "../drivers/clock.h"
#include "../drivers/eeprom.h"
#include "../drivers/provision.h"
#include "../drivers/reset.h"
#include "../drivers/sampler.h"
#include "../meter/metering.h"

#include <stdint.h>

#define BYTES 64

/* In: what: one of the calls in the switch below; at, len, value: its arguments. Out: value, result; bytes: of reading. */
struct trial {
    uint32_t value;
    uint16_t at;
    uint8_t what;
    uint8_t len;
    uint8_t result;
    uint8_t cause;
    uint8_t bytes[BYTES];
};

struct trial ws_trial;

/* Of the samples: how many pairs, sums, the last ones. */
struct samples {
    uint32_t pairs;
    uint32_t voltage;
    uint32_t current;
    uint16_t last_voltage;
    uint16_t last_current;
};

volatile struct samples ws_trial_samples;

void ws_trial_ready(void);

WS_NOINLINE void ws_trial_ready(void)
{
    WS_BARRIER();
}

void ws_metering_sample(uint16_t voltage, uint16_t current)
{
    ws_trial_samples.pairs++;
    ws_trial_samples.voltage += voltage;
    ws_trial_samples.current += current;
    ws_trial_samples.last_voltage = voltage;
    ws_trial_samples.last_current = current;
}

/* Reaches some bytes further down the stack. */
WS_NOINLINE static void dig(void)
{
    volatile uint8_t hole[200];
    uint8_t i;

    for (i = 0; i < sizeof hole; i++) {
        hole[i] = i;
    }
}

static void call(struct trial *t)
{
    switch (t->what) {
    case 0:
        break;
    case 1:
        t->value = ws_clock_ticks();
        break;
    case 2:
        t->value = ws_clock_seconds();
        break;
    case 3:
        t->result = ws_clock_sleep(t->value, 0);
        break;
    case 4:
        ws_clock_stop();
        break;
    case 5:
        ws_eeprom_read(t->at, t->bytes, t->len);
        break;
    case 6:
        ws_eeprom_write(t->at, t->bytes, t->len);
        break;
    case 7:
        ws_eeprom_begin(t->at, t->bytes, t->len);
        break;
    case 8:
        t->result = ws_eeprom_busy();
        break;
    case 9:
        ws_eeprom_abandon();
        break;
    case 10:
        ws_sampler_start();
        break;
    case 11:
        t->result = (uint8_t)ws_entropy_read(t->bytes);
        break;
    case 12:
        ws_provision_read((uint8_t)t->at, t->bytes, t->len);
        break;
    case 13:
        ws_watchdog_start();
        break;
    case 14:
        ws_watchdog_feed();
        break;
    case 15:
        ws_reset_now();
        break;
    case 16:
        t->value = ws_stack_untouched();
        break;
    case 17:
        dig();
        break;
    default:
        for (;;) {
        }
    }
}

int main(void)
{
    ws_board_start();
    ws_trial.cause = ws_reset_cause();
    ws_clock_start();
    for (;;) {
        ws_trial_ready();
        call(&ws_trial);
    }
}
