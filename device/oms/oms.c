#include "oms.h"

#include "../crypto/compiler.h"
#include "../crypto/secret.h"
#include "../drivers/clock.h"
#include "../drivers/provision.h"
#include "../drivers/radio.h"
#include "../drivers/reset.h"
#include "../meter/message.h"

#include <stddef.h>

/* The offsets that oms.h promises to the host; an array of -1 elements does not compile. */
#define AT(member, offset) typedef char oms_status_##member[offsetof(struct ws_oms_status, member) == (offset) ? 1 : -1]
AT(energy, 4);
AT(sent, 8);
AT(power, 12);
AT(faults, 19);

/* Settings in what is provisioned: their length, offsets in them, and the key's. */
#define SETTINGS 30
#define CHANNEL 6
#define POWER 7
#define INTERVAL 8
#define PROFILE 10
#define FRAME_FORMAT 11
#define CALIBRATION 12
#define ADDRESS 22
#define KEY 32
#define FORMAT 2

/* Starts the radio where it has not, or failed since; its address is 0, as it hears nothing.
 * Returns whether it is there. */
static uint8_t radio_ready(ws_oms *meter)
{
    if (!meter->radio_ready) {
        uint8_t setting[2];

        ws_provision_read(CHANNEL, setting, 2);
        meter->radio_ready = ws_radio_start(0, setting[0], setting[1]) == 0;
        if (!meter->radio_ready) {
            meter->status->radio_faults++;
        }
    }
    return meter->radio_ready;
}

/* Takes what is provisioned. Returns 0; -1 where there is nothing, or what is out of range. */
static int take_settings(ws_oms *meter)
{
    uint8_t settings[SETTINGS];

    ws_provision_read(0, settings, SETTINGS);
    meter->interval = ws_message_read_16(settings + INTERVAL);
    meter->format = settings[FRAME_FORMAT];
    ws_message_copy(meter->address, settings + ADDRESS, WS_OMS_ADDRESS);
    if (ws_message_read_16(settings) != FORMAT || !ws_oms_has_profile(settings[PROFILE]) || meter->interval == 0 ||
        meter->format > WS_OMS_FORMAT_B || (meter->address[0] | meter->address[1]) == 0) {
        return -1;
    }
    meter->status->profile = settings[PROFILE];
    if (ws_metering_calibrate(&meter->metering, ws_message_read_32(settings + CALIBRATION),
                              ws_message_read_32(settings + CALIBRATION + 4),
                              (int16_t)ws_message_read_16(settings + CALIBRATION + 8)) != 0) {
        meter->status->faults |= WS_OMS_NO_CALIBRATION;
    }
    return 0;
}

int ws_oms_start(ws_oms *meter, const volatile ws_metering_sums *sums, struct ws_oms_status *status)
{
    meter->status = status;
    meter->sums = sums;
    /* Out of power-up a radio's crystal runs until it is put to sleep. */
    if (radio_ready(meter)) {
        ws_radio_sleep();
    }
    if (take_settings(meter) != 0) {
        return -1;
    }
    ws_watchdog_start();
    ws_register_start(&meter->kept);
    status->energy = meter->kept.energy;
    if (ws_numbers_start(&meter->numbers) != 0) {
        status->faults |= WS_OMS_NO_NUMBERS;
    }
    status->starts = (uint16_t)ws_numbers_starts(&meter->numbers);
    meter->due_s = ws_clock_seconds() + meter->interval;
    return 0;
}

/* Takes the next number whose lowest byte, the access number, follows that of the last telegram.
 * Returns 0, or -1 where there is none. */
static int take_number(ws_oms *meter, uint32_t *number)
{
    do {
        if (ws_numbers_take(&meter->numbers, number) != 0) {
            meter->status->faults |= WS_OMS_NO_NUMBERS;
            return -1;
        }
    } while (meter->kept.n != 0 && (uint8_t)*number != (uint8_t)(meter->kept.n + 1));
    return 0;
}

/* Seals and sends a telegram, of a register that is kept. */
static WS_NOINLINE void send(ws_oms *meter, const ws_oms_reading *reading)
{
    struct ws_oms_status *status = meter->status;
    uint8_t frame[WS_OMS_FRAME_MAX];
    uint8_t key[16];
    uint8_t len;

    ws_provision_read(KEY, key, sizeof key);
    len = ws_oms_telegram(status->profile, meter->format, meter->address, key, reading, frame);
    ws_wipe(key, sizeof key);
    if (radio_ready(meter)) {
        if (ws_radio_send(frame, len) == 0) {
            status->sent++;
        } else {
            meter->radio_ready = 0;
            status->radio_faults++;
        }
        ws_radio_sleep();
    }
}

/* Measures, keeps the register, and sends it. */
static void report(ws_oms *meter, uint32_t now_s)
{
    struct ws_oms_status *status = meter->status;
    ws_oms_reading reading;

    /* The next one; telegrams that would have been due meanwhile are left out. */
    meter->due_s += meter->interval;
    if ((int32_t)(meter->due_s - now_s) <= 0) {
        meter->due_s = now_s + meter->interval;
    }
    status->power = ws_metering_power(&meter->metering);
    if (take_number(meter, &reading.counter) != 0) {
        return;
    }
    if (ws_register_keep(&meter->kept, reading.counter, status->energy) != 0) {
        status->faults |= WS_OMS_NO_REGISTER;
        return;
    }
    status->number = reading.counter;
    reading.energy = status->energy;
    reading.power = status->power;
    reading.hours = now_s / 3600 > INT16_MAX ? INT16_MAX : (uint16_t)(now_s / 3600);
    reading.status = status->faults & WS_OMS_NO_CALIBRATION ? WS_OMS_PERMANENT_ERROR : 0;
    send(meter, &reading);
}

void ws_oms_turn(ws_oms *meter)
{
    const uint32_t now_s = ws_clock_seconds();

    ws_watchdog_feed();
    ws_metering_take(&meter->metering, meter->sums, &meter->status->energy);
    ws_numbers_work(&meter->numbers);
    if ((meter->status->faults & (WS_OMS_NO_NUMBERS | WS_OMS_NO_REGISTER)) == 0 && (int32_t)(meter->due_s - now_s) <= 0) {
        report(meter, now_s);
    }
    ws_clock_sleep((now_s + 1) * WS_CLOCK_TICKS, 0);
}
