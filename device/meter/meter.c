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

/* How long a report that was sent waits for its acknowledgement before the journal begins to write it: a collector that hears it
 * answers within half of that. */
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

/* Whether messages of a suite are to be sealed and opened with a key that the memory does not keep. */
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

/* Seeds the generator, with noise of the source where that works. Returns whether it is seeded. */
static WS_NOINLINE uint8_t seed(ws_meter *meter)
{
    uint8_t fresh[64];
    uint8_t name[8];
    ws_entropy source;
    uint8_t gathered = 0;

    if (meter->status->faults & WS_METER_NO_RANDOM) {
        return 0;
    }
    if (ws_entropy_start(&source, WS_METER_ENTROPY_BITS) == 0) {
        ws_watchdog_feed();
        if (ws_entropy_gather(&source, fresh) == 0) {
            ws_watchdog_feed();
            if (ws_entropy_gather(&source, fresh + 32) == 0) {
                gathered = sizeof fresh;
            }
        }
    }
    ws_watchdog_feed();
    if (gathered == 0) {
        meter->status->faults |= WS_METER_NO_NOISE;
        meter->alerts |= NOISE_TO_COME;
    }
    ws_provision_read(OWN_PUBLIC_KEY, name, sizeof name);
    meter->seeded = ws_seed_start(&meter->random, fresh, gathered, name, sizeof name) == 0;
    if (!meter->seeded) {
        meter->status->faults |= WS_METER_NO_RANDOM;
    }
    ws_wipe(fresh, sizeof fresh);
    ws_wipe(&source, sizeof source);
    ws_watchdog_feed();
    return meter->seeded;
}

/* Takes a number for a message. Returns 0, or -1 where there is none. */
static int take_number(ws_meter *meter, uint32_t *number)
{
    if ((meter->status->faults & WS_METER_NO_NUMBERS) || ws_numbers_take(&meter->numbers, number) != 0) {
        meter->status->faults |= WS_METER_NO_NUMBERS;
        return -1;
    }
    return 0;
}

/* Seals a report, and gives it to the journal, which is not busy.
 *
 * in/out: plain: what the type has to say, from byte 6; wiped. Returns whether the journal has it. */
static uint8_t report(ws_meter *meter, uint8_t type, uint8_t plain[WS_PLAIN])
{
    ws_message_header header;
    uint8_t bytes;

    header.kind = WS_KIND_REPORT;
    header.suite = meter->settings.suite;
    set_key(meter, &header);
    if (ws_message_has_curve(header.suite) && !meter->seeded && !seed(meter)) {
        return 0;
    }
    if (take_number(meter, &header.number) != 0) {
        return 0;
    }
    meter->status->state = WS_METER_SEALING;
    meter->assembly.have = 0;
    ws_message_write_32(plain, header.number);
    plain[4] = meter->time_is_set ? type : type | TIME_NOT_SET;
    plain[5] = to_byte(meter->status->lost);
    bytes = ws_message_prepare(&header, &meter->random, plain, meter->buffer + WS_JOURNAL_MESSAGE);
    ws_wipe(plain, WS_PLAIN);
    if (bytes == 0) {
        /* A collector's key that is none: not to be tried again and again. */
        meter->status->faults |= WS_METER_NO_RANDOM;
        return 0;
    }
    meter->status->number = header.number;
    ws_journal_hold(&meter->journal, meter->buffer, header.number, header.suite, type == ALERT);
    meter->appending = header.number;
    /* The journal counts to 255. */
    meter->status->lost += meter->journal.lost;
    meter->journal.lost = 0;
    return 1;
}

/* Writes the alert that is to come first. Returns its bit. */
static uint8_t write_alert(const ws_meter *meter, uint8_t plain[WS_PLAIN])
{
    ws_message_write_32(plain + 6, time_now(meter));
    ws_message_write_16(plain + 11, meter->status->starts);
    plain[13] = plain[14] = plain[15] = 0;
    if (meter->alerts & START_TO_COME) {
        plain[10] = meter->status->reset_cause;
        return START_TO_COME;
    }
    if (meter->alerts & NOISE_TO_COME) {
        plain[10] = ALERT_NOISE;
        return NOISE_TO_COME;
    }
    plain[10] = ALERT_JOURNAL;
    plain[15] = meter->journal.damaged;
    return JOURNAL_TO_COME;
}

static void write_measurement(ws_meter *meter, uint32_t now_s, uint8_t plain[WS_PLAIN])
{
    struct ws_meter_status *status = meter->status;
    const uint16_t interval = ws_message_read_16(meter->settings.interval);

    /* The next one; measurements that would have been due meanwhile are left out. */
    meter->due_s += interval;
    if (!later(meter->due_s, now_s)) {
        meter->due_s = now_s + interval;
    }
    status->power = ws_metering_power(&meter->metering);
    status->voltage = ws_metering_voltage(meter->sums, ws_message_read_32(meter->settings.voltage));
    status->current = ws_metering_current(meter->sums, ws_message_read_32(meter->settings.current));
    ws_message_write_32(plain + 6, meter->time_base + now_s);
    ws_message_write_32(plain + 10, status->energy);
    ws_message_write_16(plain + 14, (uint16_t)status->power);
}

/* Sends the pieces of the oldest report, beginning with another one each time: a collector that has kept the last ones of an
 * attempt before would else have the whole with the first, and acknowledge it while the others are still being sent.
 * Returns whether all went out. */
static WS_NOINLINE uint8_t send_pieces(ws_meter *meter, uint8_t len)
{
    const uint8_t pieces = ws_link_pieces(len);
    uint8_t packet[WS_RADIO_PACKET];
    uint8_t index = (uint8_t)(meter->status->sent % pieces);
    uint8_t left;

    for (left = pieces; left != 0; left--) {
        uint8_t bytes = ws_link_begin(packet, &meter->settings.address, &meter->sending, index);

        ws_journal_read(&meter->journal, (uint8_t)(index * bytes), packet + WS_LINK_HEADER, bytes);
        if (ws_radio_send(packet, (uint8_t)(WS_LINK_HEADER + bytes)) != 0) {
            radio_failed(meter);
            return 0;
        }
        index = (uint8_t)(index + 1 == pieces ? 0 : index + 1);
    }
    return 1;
}

/* How long to wait for an acknowledgement, and by chance longer: docs/reference/protocol.md, "Acknowledgement, resending, order". */
static uint32_t patience(ws_meter *meter, uint8_t suite)
{
    const uint32_t range = TENTH << (meter->attempts < ATTEMPTS_MAX ? meter->attempts : ATTEMPTS_MAX);

    /* A linear congruential generator of full period (Knuth, volume 2, section 3.2.1.2: the multiplier is 1 modulo 4, the
     * increment odd). So that two meters do not stay in step, the clock goes into it, too. */
    meter->jitter = (uint16_t)((meter->jitter ^ ws_clock_ticks()) * 25173u + 13849u);
    return (ws_message_has_curve(suite) ? 2 * TENTH : TENTH) + (((meter->jitter >> 2) * range) >> 14);
}

/* The oldest report that waits: as ws_journal_oldest. One of a key that is no more is left out: the journal was empty when the next one was
 * taken, so that it was acknowledged, and a byte that the power's loss tore reads otherwise now. */
static uint8_t oldest_report(ws_meter *meter, ws_journal_report *oldest)
{
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    while (ws_journal_oldest(&meter->journal, oldest)) {
        if (oldest->suite != WS_SUITE_AES256_GCM_REKEYED || oldest->n >= ws_message_read_32(meter->key.first)) {
            return 1;
        }
        ws_journal_acknowledged(&meter->journal);
    }
    return 0;
#else
    return ws_journal_oldest(&meter->journal, oldest);
#endif
}

/* Sends the oldest report where it is time to. Returns whether there is one: then send_at says when it is sent next. */
static uint8_t send_oldest(ws_meter *meter)
{
    struct ws_meter_status *status = meter->status;
    ws_journal_report oldest;

    status->waiting = meter->journal.count;
    if (!oldest_report(meter, &oldest)) {
        meter->sending.number = 0;
        return 0;
    }
    if (oldest.n != meter->sending.number) {
        meter->sending.kind = WS_KIND_REPORT;
        meter->sending.suite = oldest.suite;
        meter->sending.number = oldest.n;
        set_key(meter, &meter->sending);
        meter->attempts = 0;
        meter->send_at = ws_clock_ticks();
    }
    if (later(meter->send_at, ws_clock_ticks()) || !radio_ready(meter)) {
        return 1;
    }
    status->state = WS_METER_SENDING;
    if (send_pieces(meter, oldest.len)) {
        status->sent++;
        if (meter->attempts != 0) {
            status->resent++;
        }
    }
    meter->send_at = ws_clock_ticks() + patience(meter, oldest.suite);
    if (meter->attempts < ATTEMPTS_MAX) {
        meter->attempts++;
    }
    return 1;
}

/* An acknowledgement came. Returns whether it is one of the report that is being sent. */
static uint8_t acknowledged(ws_meter *meter, const ws_link_piece *piece, const uint8_t *message)
{
    const ws_message_header *sending = &meter->sending;
    ws_journal_report oldest;

    /* There may have been no room for it meanwhile. */
    if (sending->number == 0 || sending->suite != piece->suite || (uint8_t)sending->number != piece->number_lsb ||
        ws_message_acknowledges(sending, message) != 0 || !ws_journal_oldest(&meter->journal, &oldest) ||
        oldest.n != sending->number) {
        return 0;
    }
    if (sending->number == meter->appending && ws_journal_busy(&meter->journal)) {
        meter->status->abandoned++;
        meter->appending = 0;
    }
    ws_journal_acknowledged(&meter->journal);
    meter->status->acknowledged_number = sending->number;
    meter->status->acknowledged++;
#if WS_HAS_UPDATES
    /* Of what this image has sealed itself: that is to report in. */
    if (meter->on_trial && sending->number >= meter->first_number && ws_boot_confirm() == 0) {
        meter->on_trial = 0;
    }
#endif
    meter->sending.number = 0;
    return 1;
}

#define HEARD_NOTHING 0
#define HEARD_COMMAND 1
#define HEARD_SEALED_COMMAND 2

/* Opens a command with the next key, where a renewal has made one. That it can be opened proves that the collector has that key: it is the
 * meter's from here on. Taken is it with an empty journal alone, because what waits there is sealed with the present one, which is erased.
 * Returns whether plain is what the command says. */
static WS_NOINLINE uint8_t unpack_with_next_key(ws_meter *meter, ws_message_header *header, const uint8_t *message,
                                                uint8_t plain[WS_PLAIN])
{
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    ws_journal_report oldest;

    if (header->suite != WS_SUITE_AES256_GCM_REKEYED || !meter->renewal.responded || oldest_report(meter, &oldest) ||
        ws_journal_busy(&meter->journal)) {
        return 0;
    }
    header->key = meter->renewal.next_key;
    if (ws_message_unpack(header, message, plain) != 0) {
        return 0;
    }
    if (ws_epoch_key_take(&meter->key, meter->renewal.next_key, ws_numbers_next(&meter->numbers)) != 0) {
        meter->status->faults |= WS_METER_NO_KEY;
        ws_wipe(plain, WS_PLAIN);
        return 0;
    }
    meter->status->epoch = meter->key.epoch[3];
    ws_renewal_end(&meter->renewal);
    return 1;
#else
    (void)meter, (void)header, (void)message, (void)plain;
    return 0;
#endif
}

#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
/* A packet of a renewal came, for this meter: replies. */
static WS_NOINLINE void renew(ws_meter *meter, const uint8_t *packet)
{
    uint8_t reply[WS_RENEWAL_PACKET];

    if (meter->settings.suite != WS_SUITE_AES256_GCM_REKEYED || lacks_key(meter, meter->settings.suite)) {
        refuse(meter);
        return;
    }
    /* A seed of before may be known to who had all memories once. */
    if (ws_renewal_is_response_due(&meter->renewal, &meter->key, packet) && !seed(meter)) {
        return;
    }
    ws_watchdog_feed();
    if (!ws_renewal_take(&meter->renewal, &meter->key, &meter->random, packet, reply + WS_LINK_HEADER + 1)) {
        refuse(meter);
        return;
    }
    ws_watchdog_feed();
    reply[0] = meter->settings.address.collector;
    reply[1] = WS_KIND_ANSWER << 6 | WS_SUITE_AES256_GCM_REKEYED << 3 | WS_RENEWAL_PIECE;
    ws_message_copy(reply + 2, packet + 2, WS_LINK_HEADER + 1 - 2);
    if (ws_radio_send(reply, sizeof reply) != 0) {
        radio_failed(meter);
    }
}
#endif

#if WS_HAS_UPDATES
/* A piece of an image came, for this meter: replies. */
static WS_NOINLINE void take_piece(ws_meter *meter, uint8_t *packet)
{
    ws_message_header header;

    header.kind = WS_KIND_COMMAND;
    header.suite = packet[1] >> 3 & 7;
    header.number = 0;
    header.address = &meter->settings.address;
    set_key(meter, &header);
    ws_watchdog_feed();
    if (header.suite != meter->settings.suite || !ws_message_has_pieces(header.suite) || lacks_key(meter, header.suite) ||
        !ws_update_take(&meter->update, &header, packet)) {
        refuse(meter);
        return;
    }
    ws_watchdog_feed();
    packet[0] = meter->settings.address.collector;
    packet[1] = (uint8_t)(WS_KIND_ANSWER << 6 | header.suite << 3 | WS_UPDATE_PIECE);
    if (ws_radio_send(packet, WS_UPDATE_REPLY) != 0) {
        radio_failed(meter);
    }
}
#endif

/* Whether a command came, of as many pieces as there are.
 *
 * out: plain: of one that came in one packet: HEARD_COMMAND; one of more pieces is in the buffer, to be opened:
 * HEARD_SEALED_COMMAND. Else HEARD_NOTHING, and where the packet is none that the meter waits for, it is counted. */
static uint8_t command_came(ws_meter *meter, const ws_link_piece *piece, const uint8_t *data, uint8_t plain[WS_PLAIN])
{
    if (piece->suite == meter->settings.suite && !(meter->status->faults & WS_METER_NO_SETTINGS) &&
        !lacks_key(meter, piece->suite)) {
        if (piece->count == 1) {
            ws_message_header header;

            header.kind = WS_KIND_COMMAND;
            header.suite = piece->suite;
            set_key(meter, &header);
            if ((ws_message_unpack(&header, data, plain) == 0 || unpack_with_next_key(meter, &header, data, plain)) &&
                (uint8_t)header.number == piece->number_lsb) {
                return HEARD_COMMAND;
            }
        } else if (!ws_journal_busy(&meter->journal)) {
            return ws_link_collect(&meter->assembly, piece, data, meter->buffer) ? HEARD_SEALED_COMMAND : HEARD_NOTHING;
        } else {
            /* The buffer is the journal's for up to half a second; the collector sends the command again. */
            return HEARD_NOTHING;
        }
    }
    refuse(meter);
    return HEARD_NOTHING;
}

/* Listens until deadline, or until a packet has come. Returns as command_came; heard_s: when it came. */
static WS_NOINLINE uint8_t listen(ws_meter *meter, uint32_t deadline, uint8_t plain[WS_PLAIN], uint32_t *heard_s)
{
    uint8_t packet[WS_RADIO_PACKET];
    ws_link_piece piece;
    int len;

    if (!radio_ready(meter)) {
        ws_clock_sleep(ws_clock_ticks() + TENTH, 0);
        return HEARD_NOTHING;
    }
    len = ws_radio_listen(deadline, packet);
    *heard_s = ws_clock_seconds();
    if (len < 0) {
        radio_failed(meter);
    }
    if (len <= 0) {
        return HEARD_NOTHING;
    }
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    if (len == WS_RENEWAL_PACKET && packet[0] == meter->settings.address.own &&
        packet[1] == (WS_KIND_COMMAND << 6 | WS_SUITE_AES256_GCM_REKEYED << 3 | WS_RENEWAL_PIECE) &&
        ws_message_read_16(packet + 2) == own_name(meter)) {
        renew(meter, packet);
        return HEARD_NOTHING;
    }
#endif
#if WS_HAS_UPDATES
    if (len == WS_UPDATE_PACKET && packet[0] == meter->settings.address.own &&
        (packet[1] & 0xc7) == (WS_KIND_COMMAND << 6 | WS_UPDATE_PIECE) && ws_message_read_16(packet + 2) == own_name(meter)) {
        take_piece(meter, packet);
        return HEARD_NOTHING;
    }
#endif
    if (ws_link_read(packet, (uint8_t)len, &piece) == 0 && packet[0] == meter->settings.address.own &&
        piece.meter == own_name(meter)) {
        if (piece.kind == WS_KIND_COMMAND) {
            return command_came(meter, &piece, packet + WS_LINK_HEADER, plain);
        }
        if (piece.kind == WS_KIND_ACKNOWLEDGEMENT && acknowledged(meter, &piece, packet + WS_LINK_HEADER)) {
            return HEARD_NOTHING;
        }
    }
    refuse(meter);
    return HEARD_NOTHING;
}

/* What the answer to read status says. out: out: 11 bytes. */
static void write_status(const ws_meter *meter, uint8_t page, uint8_t *out)
{
    const struct ws_meter_status *status = meter->status;

    if (page == 0) {
        ws_message_write_32(out, time_now(meter));
        out[4] = meter->settings.suite;
        out[5] = meter->settings.interval[0];
        out[6] = meter->settings.interval[1];
        out[7] = meter->journal.count;
        ws_message_write_16(out + 8, status->starts);
        out[10] = to_byte(ws_stack_untouched() / 4);
    }
#if WS_HAS_UPDATES
    else if (page == 2) {
        ws_update_status(&meter->update, out);
    }
#endif
    else {
        ws_message_write_32(out, status->energy);
        ws_message_write_16(out + 4, status->voltage);
        ws_message_write_16(out + 6, status->current);
        ws_message_write_16(out + 8, status->refused);
        out[10] = to_byte(status->lost);
    }
}

/* Answers a command: the last one, or WS_RESULT_STALE. */
static WS_NOINLINE void answer(ws_meter *meter, const uint8_t command[WS_PLAIN], uint8_t result)
{
    uint8_t packet[WS_RADIO_PACKET];
    uint8_t plain[WS_PLAIN];
    ws_message_header header;
    uint8_t bytes;
    uint8_t i;

    header.kind = WS_KIND_ANSWER;
    header.address = &meter->settings.address;
    header.suite = meter->settings.suite;
    if (header.suite == WS_SUITE_NONE && command[WS_COMMAND_CODE] == WS_COMMAND_CONFIGURE) {
        /* The collector takes a change to none from what is authentic alone. */
        header.suite = WS_SUITE_AES128_GCM;
    }
    set_key(meter, &header);
    if (lacks_key(meter, header.suite) || take_number(meter, &header.number) != 0) {
        return;
    }
    for (i = 5; i < WS_PLAIN; i++) {
        plain[i] = 0;
    }
    ws_message_copy(plain, command, 4);
    plain[4] = result;
    if (result == WS_RESULT_STALE) {
        ws_message_copy(plain + 5, meter->settings.m, 4);
    }
    if (command[WS_COMMAND_CODE] == WS_COMMAND_READ_STATUS && result == WS_RESULT_DONE) {
        write_status(meter, command[WS_COMMAND_ARGUMENTS], plain + 5);
    }
    bytes = ws_message_prepare(&header, 0, plain, packet + WS_LINK_HEADER);
    ws_wipe(plain, sizeof plain);
    if (bytes == 0) {
        return;
    }
    meter->status->number = header.number;
    bytes = ws_link_begin(packet, header.address, &header, 0);
    if (radio_ready(meter) && ws_radio_send(packet, (uint8_t)(WS_LINK_HEADER + bytes)) != 0) {
        radio_failed(meter);
    }
}

/* Carries out a command that is new. Returns whether it may be answered. */
static WS_NOINLINE uint8_t carry_out(ws_meter *meter, const uint8_t plain[WS_PLAIN], uint32_t heard_s)
{
    const uint8_t address = meter->settings.address.own;
    uint8_t result = ws_command_carry_out(plain, &meter->settings, &meter->metering);

    /* To read status twice does no harm: after a start its m may come again. */
    if (plain[WS_COMMAND_CODE] != WS_COMMAND_READ_STATUS && ws_settings_keep(&meter->settings) != 0) {
        meter->status->faults |= WS_METER_NO_SETTINGS;
        return 0;
    }
    meter->status->commands++;
    meter->status->suite = meter->settings.suite;
    if (result == WS_RESULT_DONE) {
        switch (plain[WS_COMMAND_CODE]) {
        case WS_COMMAND_CONFIGURE:
            meter->due_s = ws_clock_seconds() + ws_message_read_16(meter->settings.interval);
            break;
        case WS_COMMAND_CALIBRATE:
            meter->status->faults &= (uint8_t)~WS_METER_NO_CALIBRATION;
            break;
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
        case WS_COMMAND_RENEW_KEY:
            ws_renewal_begin(&meter->renewal, ws_message_read_32(plain));
            break;
#endif
#if WS_HAS_UPDATES
        case WS_COMMAND_UPDATE:
            ws_update_begin(&meter->update, ws_message_read_32(plain), plain + WS_COMMAND_ARGUMENTS);
            break;
#endif
        case WS_COMMAND_SET_TIME:
            meter->time_base = ws_message_read_32(plain + WS_COMMAND_ARGUMENTS) - heard_s;
            meter->time_is_set = 1;
            break;
        default:
            break;
        }
    }
    if (meter->settings.address.own != address) {
        meter->radio_ready = 0;
    }
    return 1;
}

/* Begins anew, with all that the journal was given. */
static void restart(ws_meter *meter)
{
    ws_journal_append(&meter->journal);
    while (ws_eeprom_busy()) {
        ws_clock_sleep(ws_clock_ticks() + POLL, 0);
    }
    ws_reset_now();
}

/* A command came that is authentic. */
static void command(ws_meter *meter, const uint8_t plain[WS_PLAIN], uint32_t heard_s)
{
    const uint8_t order = ws_command_order(&meter->settings, plain);

    /* Who replays commands all the time cannot have numbers used up, and with them the EEPROM, for more than one answer a second. */
    if (order != WS_COMMAND_NEW && heard_s == meter->answered_s) {
        refuse(meter);
        return;
    }
    meter->answered_s = heard_s;
    if (order == WS_COMMAND_STALE) {
        refuse(meter);
        answer(meter, plain, WS_RESULT_STALE);
        return;
    }
    if (order == WS_COMMAND_REPEATED) {
        meter->status->repeated++;
    } else if (!carry_out(meter, plain, heard_s)) {
        return;
    }
    answer(meter, plain, meter->settings.result);
    if (order == WS_COMMAND_NEW && plain[WS_COMMAND_CODE] == WS_COMMAND_REBOOT) {
        restart(meter);
    }
}

/* Opens the command in the buffer. Returns whether it is one. */
static uint8_t open_command(ws_meter *meter, uint8_t plain[WS_PLAIN])
{
    ws_message_header header;

    meter->status->state = WS_METER_OPENING;
    header.kind = WS_KIND_COMMAND;
    header.suite = meter->assembly.suite;
    if (ws_message_unpack(&header, meter->buffer, plain) == 0 && (uint8_t)header.number == meter->assembly.number_lsb) {
        return 1;
    }
    refuse(meter);
    return 0;
}

/* Seals what is to be sealed. Returns whether something is left that waits for the journal. */
static WS_NOINLINE uint8_t seal(ws_meter *meter)
{
    uint8_t plain[WS_PLAIN];
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
    uint8_t plain[WS_PLAIN];
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
