/* Records in EEPROM that end with a check: CRC-32 (crypto/crc32.h) of "WS", a letter, "1" and all bytes before it, big-endian. */
#ifndef WS_METER_RECORD_H
#define WS_METER_RECORD_H

#include <stdint.h>

/* How many slots there are for records of which the newest counts. */
#define WS_RECORD_SLOTS 3

/* What ws_record_newest found. */
typedef struct {
    /* Where the newest record is; 0 where there is none. */
    uint16_t newest;
    /* Where the next one goes: a slot without a valid record, or else the oldest. */
    uint16_t next;
} ws_record_place;

/* Completes a record in RAM. in: len: with the check, above 4. in/out: record. */
void ws_record_seal(uint8_t *record, uint8_t len, uint8_t letter);

/* Whether the len bytes at that address, check included, are a record of that letter. */
uint8_t ws_record_stands(uint16_t at, uint8_t len, uint8_t letter);

/* How many of the first of len bytes at that address are those at bytes. */
uint8_t ws_record_same(uint16_t at, const uint8_t *bytes, uint8_t len);

/* Looks through slots of len bytes each from that address. A record is newer than another whose first four bytes are a lower
 * number. Returns where things are. */
ws_record_place ws_record_newest(uint16_t at, uint8_t len, uint8_t letter);

/* Writes a sealed record, waits until it is kept, and reads it back. Returns whether it stands. */
uint8_t ws_record_write(uint16_t at, const uint8_t *record, uint8_t len);

#endif
