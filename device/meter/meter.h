/* The secure meter: measures, seals, keeps, sends until it is acknowledged, and takes commands (docs/reference/protocol.md).
 *
 * One loop: a measurement that is due is sealed and given to the journal; the oldest report is sent; then the radio listens until
 * there is something to do. What is not acknowledged soon, or cannot be sent yet, the journal writes in the background. The radio is never asleep. Each turn of the loop ends
 * within a second, but for sealing and opening, and feeds the watchdog.
 *
 * After each start there is an alert with the cause of the reset, whatever it was: of a new meter, too. There is none where the
 * meter seals nothing: not provisioned, or its numbers are gone.
 *
 * For the host: ws_meter_status, in RAM, little-endian, all 0 after a reset. Counters are since the start, and around at 2^16
 * or 2^32:
 *    0   4  n of the last message sealed
 *    4   4  measurements sealed
 *    8   4  reports acknowledged
 *   12   4  energy, in 0.1 Wh
 *   16   2  starts, as numbers.h has them
 *   18   2  mean power of the last measurement, in W, two's complement
 *   20   2  voltage RMS in 0.1 V, and
 *   22   2  current RMS in 0.01 A, at the last measurement
 *   24   2  alerts sealed
 *   26   2  reports sent, to the last packet; each attempt counts
 *   28   2  of them those that were sent before
 *   30   2  commands carried out, also those that were refused by their result
 *   32   2  commands answered again
 *   34   2  packets refused: not of the protocol, for another meter, not authentic, or of the past
 *   36   2  faults of the radio: it did not start, or did not answer
 *   38   2  reports acknowledged before the journal had them to the end
 *   40   2  measurements lost, for want of room
 *   42   1  reports waiting
 *   43   1  state: WS_METER_... below
 *   44   1  suite
 *   45   1  cause of the last reset
 *   46   1  what is wrong: WS_METER_NO_... below, joined
 *   47   1  the lowest byte of the epoch of suite 6's key
 *   48   4  n of the last report that the journal had to the end; known up to a second later
 *   52   4  n of the last report acknowledged */
#ifndef WS_METER_METER_H
#define WS_METER_METER_H

#include "../crypto/drbg.h"
#include "commands.h"
#include "epoch_key.h"
#include "journal.h"
#include "link.h"
#include "message.h"
#include "metering.h"
#include "numbers.h"
#include "renewal.h"
#include "settings.h"
#include "update.h"

#include <stdint.h>

#define WS_METER_UNPROVISIONED 0
#define WS_METER_STARTING 1
#define WS_METER_LISTENING 2
#define WS_METER_SEALING 3
#define WS_METER_SENDING 4
#define WS_METER_OPENING 5

/* Nothing is sealed; no command is taken; the noise source failed; no random bytes, or a collector's
 * key that is none, so that suites 3 and 4 seal nothing; no calibration, so that nothing is measured; the memory does not keep a key
 * of suite 6, with which nothing is sealed and no command is taken. */
#define WS_METER_NO_NUMBERS 1
#define WS_METER_NO_SETTINGS 2
#define WS_METER_NO_NOISE 4
#define WS_METER_NO_RANDOM 8
#define WS_METER_NO_CALIBRATION 16
#define WS_METER_NO_KEY 32

/* Bits of min-entropy that a sample of the port's noise source (crypto/entropy.h) has to have at least: a port joins as many
 * readings to a sample as that takes. The source is started, and its samples read, before the first ephemeral key. */
#define WS_METER_ENTROPY_BITS 1

struct ws_meter_status {
    uint32_t number;
    uint32_t measurements;
    uint32_t acknowledged;
    uint32_t energy;
    uint16_t starts;
    int16_t power;
    uint16_t voltage;
    uint16_t current;
    uint16_t alerts;
    uint16_t sent;
    uint16_t resent;
    uint16_t commands;
    uint16_t repeated;
    uint16_t refused;
    uint16_t radio_faults;
    uint16_t abandoned;
    uint16_t lost;
    uint8_t waiting;
    uint8_t state;
    uint8_t suite;
    uint8_t reset_cause;
    uint8_t faults;
    uint8_t epoch;
    uint32_t kept_number;
    uint32_t acknowledged_number;
};

/* The members are the implementation's. */
typedef struct {
    struct ws_meter_status *status;
    const volatile ws_metering_sums *sums;
    /* The second when the next measurement is due, and what makes the time of seconds. */
    uint32_t due_s;
    uint32_t time_base;
    /* When a command was last answered: the second. */
    uint32_t answered_s;
    /* The report that the journal holds or appends, or 0. */
    uint32_t appending;
    /* The report that is sent, number 0 for none; when it is sent next, and how often it was. */
    ws_message_header sending;
    uint32_t send_at;
    uint16_t jitter;
    uint8_t attempts;
    /* Alerts that are to be sealed. */
    uint8_t alerts;
    uint8_t time_is_set;
    uint8_t radio_ready;
    uint8_t seeded;
    ws_link_assembly assembly;
    ws_settings settings;
    ws_journal journal;
    ws_numbers numbers;
    ws_metering metering;
    ws_drbg random;
#if WS_HAS_SUITE(WS_SUITE_AES256_GCM_REKEYED)
    ws_epoch_key key;
    ws_renewal renewal;
#endif
#if WS_HAS_UPDATES
    ws_update update;
    /* This image has not reported in yet; the first number that it may seal with. */
    uint8_t on_trial;
    uint32_t first_number;
#endif
    /* A report with the journal's bytes around it, until the journal has it; else the command that is being collected. */
    uint8_t buffer[WS_JOURNAL_BUFFER];
} ws_meter;

/* Starts the meter: the board and the clock are started, and the sampler is not.
 *
 * in:     sums: begun (metering.h). in/out: meter, status: all 0; they and sums stay where they are.
 * Returns 0; -1 where the part is not provisioned, for the caller to sleep for ever. */
int ws_meter_start(ws_meter *meter, const volatile ws_metering_sums *sums, struct ws_meter_status *status);

/* One turn of the loop, up to a second. in/out: meter, started. */
void ws_meter_turn(ws_meter *meter);

#endif
