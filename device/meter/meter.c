#include "meter.h"

#include "../crypto/compiler.h"
#include "../crypto/entropy.h"
#include "../crypto/secret.h"
#include "../crypto/seed.h"
#include "../drivers/clock.h"
#include "../drivers/eeprom.h"
#include "../drivers/provision.h"
#include "../drivers/radio.h"
#include "../drivers/reset.h"

#include <stddef.h>

/* The offsets that meter.h promises to the host; an array of -1 elements does not compile. */
#define AT(member, offset) typedef char status_##member[offsetof(struct ws_meter_status, member) == (offset) ? 1 : -1]
AT(energy, 12);
AT(starts, 16);
AT(sent, 26);
AT(refused, 34);
AT(waiting, 42);
AT(faults, 46);
AT(acknowledged_number, 52);

/* What a report says: docs/reference/protocol.md. */
#define MEASUREMENT 1
#define ALERT 2
#define TIME_NOT_SET 0x80
#define ALERT_NOISE 16
#define ALERT_JOURNAL 17

/* Alerts to come: bits. */
#define START_TO_COME 1
#define NOISE_TO_COME 2
#define JOURNAL_TO_COME 4

#define TENTH (WS_CLOCK_TICKS / 10)
#define ATTEMPTS_MAX 6

/* How long a report that was sent waits for its acknowledgement before the journal begins to
 * write it: a collector that hears it answers within half of that. */
#define HOLD (WS_CLOCK_TICKS / 25)

/* How long the loop waits for the journal while something is to be sealed. */
#define POLL (WS_CLOCK_TICKS / 50)

/* Offsets in what is provisioned. */
#define CHANNEL 6
#define POWER 7
#define OWN_PUBLIC_KEY 22

/* Whether a is later than b. */
static uint8_t later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* 255 is 255 or more. */
static WS_NOINLINE uint8_t to_byte(uint16_t count)
{
    return count > UINT8_MAX ? UINT8_MAX : (uint8_t)count;
}

static uint16_t own_name(const ws_meter *meter)
{
    return ws_message_read_16(meter->settings.address.meter);
}

static uint32_t time_now(const ws_meter *meter)
{
    return meter->time_base + ws_clock_seconds();
}

/* The key of suite 6 for a message. */
static void set_key(const ws_meter *meter, ws_message_header *header)
{
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    header->key = meter->key.key;
#else
    (void)meter, (void)header;
#endif
}

/* Whether messages of a suite are to be sealed and opened with a key that the memory does not
 * keep. */
static uint8_t lacks_key(const ws_meter *meter, uint8_t suite)
{
    return WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED) && suite == WS_SUITE_AES256_GCM_REKEYED &&
           (meter->status->faults & WS_METER_NO_KEY) != 0;
}

static WS_NOINLINE void refuse(ws_meter *meter)
{
    meter->status->refused++;
}

static void radio_failed(ws_meter *meter)
{
    meter->radio_ready = 0;
    meter->status->radio_faults++;
}

/* Starts the radio where it has not, or failed since. Returns whether it is there. */
static uint8_t radio_ready(ws_meter *meter)
{
    if (!meter->radio_ready) {
        uint8_t setting[2];

        ws_provision_read(CHANNEL, setting, 2);
        meter->radio_ready = ws_radio_start(meter->settings.address.own, setting[0], setting[1]) == 0;
        if (!meter->radio_ready) {
            meter->status->radio_faults++;
        }
    }
    return meter->radio_ready;
}

int ws_meter_start(ws_meter *meter, const volatile ws_metering_sums *sums, struct ws_meter_status *status)
{
    meter->status = status;
    meter->sums = sums;
    if (ws_command_provisioned(&meter->settings) != 0) {
        /* Out of power-up a radio's crystal runs until it is put to sleep. */
        if (radio_ready(meter)) {
            ws_radio_sleep();
        }
        return -1;
    }
    status->state = WS_METER_STARTING;
    status->reset_cause = ws_reset_cause();
    ws_watchdog_start();
    if (ws_settings_start(&meter->settings) != 0 || !ws_command_possible(&meter->settings)) {
        status->faults |= WS_METER_NO_SETTINGS;
        ws_command_provisioned(&meter->settings);
    }
    if (ws_numbers_start(&meter->numbers) != 0) {
        status->faults |= WS_METER_NO_NUMBERS;
    }
    ws_journal_start(&meter->journal);
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    if (ws_epoch_key_start(&meter->key) != 0) {
        status->faults |= WS_METER_NO_KEY;
    }
    status->epoch = meter->key.epoch[3];
#endif
    if (ws_command_calibrate(&meter->settings, &meter->metering) != 0) {
        status->faults |= WS_METER_NO_CALIBRATION;
    }
    status->starts = (uint16_t)ws_numbers_starts(&meter->numbers);
    status->suite = meter->settings.suite;
#if WS_HAS_UPDATES
    meter->on_trial = ws_update_on_trial();
    meter->first_number = ws_numbers_next(&meter->numbers);
#endif
    meter->jitter = (uint16_t)(own_name(meter) * 40503u + status->starts);
    meter->alerts = START_TO_COME;
    meter->due_s = ws_clock_seconds() + ws_message_read_16(meter->settings.interval);
    radio_ready(meter);
    return 0;
}

/* One translation unit with its two directions: calls between units cost flash, of which the
 * ATmega328P has 80 bytes left. */
#include "uplink.inc"

#include "downlink.inc"

/* Seals what is to be sealed. Returns whether something is left that waits for the journal. */
static WS_NOINLINE uint8_t seal(ws_meter *meter)
{
    uint8_t plain[WS_PLAINTEXT_BYTES];
    uint8_t to_come = 0;
    uint32_t now_s;

    if (meter->journal.damaged != 0) {
        meter->alerts |= JOURNAL_TO_COME;
    }
    if (meter->status->faults & WS_METER_NO_NUMBERS) {
        return 0;
    }
    if ((ws_message_has_curve(meter->settings.suite) && (meter->status->faults & WS_METER_NO_RANDOM)) ||
        lacks_key(meter, meter->settings.suite)) {
        return 0;
    }
    now_s = ws_clock_seconds();
    if (meter->alerts == 0 && later(meter->due_s, now_s)) {
        return 0;
    }
    if (ws_journal_busy(&meter->journal)) {
        return 1;
    }
    if (meter->alerts != 0) {
        to_come = write_alert(meter, plain);
    } else {
        write_measurement(meter, now_s, plain);
    }
    if (report(meter, to_come != 0 ? ALERT : MEASUREMENT, plain)) {
        if (to_come == 0) {
            meter->status->measurements++;
        } else {
            meter->status->alerts++;
            meter->alerts &= (uint8_t)~to_come;
        }
        if (to_come == JOURNAL_TO_COME) {
            meter->journal.damaged = 0;
        }
    }
    return to_come;
}

/* Listens until deadline, or until a packet has come, and does what that asks for. */
static WS_NOINLINE void hear(ws_meter *meter, uint32_t deadline)
{
    uint8_t plain[WS_PLAINTEXT_BYTES];
    uint32_t heard_s;
    uint8_t heard;

    meter->status->state = WS_METER_LISTENING;
    heard = listen(meter, deadline, plain, &heard_s);
    if (heard == HEARD_COMMAND || (heard == HEARD_SEALED_COMMAND && open_command(meter, plain))) {
        command(meter, plain, heard_s);
    }
    ws_wipe(plain, sizeof plain);
}

void ws_meter_turn(ws_meter *meter)
{
    const uint16_t sent = meter->status->sent;
    uint32_t deadline;
    uint8_t to_seal;

    ws_watchdog_feed();
    ws_metering_take(&meter->metering, meter->sums, &meter->status->energy);
#if WS_HAS_UPDATES
    if (meter->on_trial && ws_clock_seconds() >= WS_UPDATE_TRIAL_S) {
        restart(meter);
    }
#endif
    to_seal = seal(meter);
    if (!ws_journal_busy(&meter->journal)) {
        ws_numbers_work(&meter->numbers);
        if (meter->appending != 0) {
            meter->status->kept_number = meter->appending;
            meter->appending = 0;
        }
    }
    /* At the next whole second there may be something to measure. */
    deadline = to_seal ? ws_clock_ticks() + POLL : (ws_clock_seconds() + 1) * WS_CLOCK_TICKS;
    if (send_oldest(meter) && later(deadline, meter->send_at)) {
        deadline = meter->send_at;
    }
    if (meter->status->sent != sent && meter->sending.number == meter->appending) {
        const uint32_t held_until = ws_clock_ticks() + HOLD;

        if (to_seal || later(deadline, held_until)) {
            deadline = held_until;
        }
    } else {
        ws_journal_append(&meter->journal);
    }
    hear(meter, deadline);
}
