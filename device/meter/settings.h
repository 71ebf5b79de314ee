/* What commands have set, with the last command and its result, in one record: after a power failure all of it is as before
 * the last change or as after it (docs/reference/protocol.md, "Provisioning"). What is assumed of the EEPROM: numbers.h.
 *
 * There are three slots, and the valid record with the latest generation counts (record.h says where the next one goes). As a
 * record that was cut short may be valid at one start and not at the next, each start writes the one it found once more, as
 * the next generation: from then on it is firm, and an answer may say so. A change that was answered is never taken back; as
 * with numbers, very many power failures in a row may leave no settings at all. */
#ifndef WS_METER_SETTINGS_H
#define WS_METER_SETTINGS_H

#include "message.h"

#include <stdint.h>

#define WS_SETTINGS_AT 156
#define WS_SETTINGS_RECORD 32

/* The record, as it is in EEPROM, and where: numbers big-endian (message.h reads and writes them), as commands bring them. */
typedef struct {
    /* The implementation's. */
    uint8_t generation[4];
    /* Of the last command, and the result byte of its answer. */
    uint8_t m[4];
    uint8_t result;
    uint8_t suite;
    uint8_t interval[2];
    ws_message_address address;
    uint8_t voltage[4];
    uint8_t current[4];
    uint8_t phase[2];
    /* The low 16 bits of CRC-32 (crypto/crc32.h) over the last command. */
    uint8_t command_check[2];
    /* The implementation's. */
    uint8_t check[4];
    uint16_t at;
} ws_settings;

/* Finds the newest settings, and makes them firm; waits for 32 byte writes.
 *
 * out: settings; all 0 where there are none that are valid. Returns 0; -1 where there are none, or where the memory does not
 * keep what is written: no command is to be taken then. */
int ws_settings_start(ws_settings *settings);

/* Writes settings as the newest, and waits until they stand: 32 byte writes, after what is being written in the background.
 *
 * in: settings, as ws_settings_start gave them, which has returned 0, but for what was changed since. out: what is the
 * implementation's in them. Returns 0; -1 where the memory does not keep what is written, and then the old or the new ones count. */
int ws_settings_keep(ws_settings *settings);

#endif
