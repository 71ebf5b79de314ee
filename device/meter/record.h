/* Records in EEPROM that end with a check: CRC-32 (crypto/crc32.h) of "WS", a letter, "1" and all bytes before it, big-endian. */
#ifndef WS_METER_RECORD_H
#define WS_METER_RECORD_H

#include <stdint.h>

/* How many slots, one behind the other, there are for records of which the newest counts. */
#define WS_RECORD_SLOTS 3

/* Completes a record in RAM. in: len: with the check, above 4. in/out: record. */
void ws_record_seal(uint8_t *record, uint8_t len, uint8_t letter);

/* Whether the len bytes at that address, check included, are a record of that letter. */
uint8_t ws_record_stands(uint16_t at, uint8_t len, uint8_t letter);

/* How many of the first of len bytes at that address are those at bytes. */
uint8_t ws_record_same(uint16_t at, const uint8_t *bytes, uint8_t len);

/* Looks through the slots of len bytes each from that address for the record whose first four bytes are the highest number.
 *
 * out: record: len bytes; untouched where there is none. Returns where it is, or 0. */
uint16_t ws_record_newest(uint16_t first, uint8_t len, uint8_t letter, uint8_t *record);

/* The slot behind the one at that address, where the oldest record is. in: first: of all slots. */
uint16_t ws_record_next(uint16_t first, uint8_t len, uint16_t at);

#endif
