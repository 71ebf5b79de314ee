/* Records in EEPROM that end with a check: CRC-32 (crypto/crc32.h) of "WS", a letter, "1" and all bytes before it, big-endian. */
#ifndef WS_METER_RECORD_H
#define WS_METER_RECORD_H

#include <stdint.h>

/* How many slots, one behind the other, there are for records of which the newest counts. */
#define WS_RECORD_SLOTS 3

/* Completes a record in RAM. in: len: with the check, above 4. in/out: record. */
void ws_record_seal(uint8_t *record, uint8_t len, uint8_t letter);

/* What ws_record_stands says. */
#define WS_RECORD_NONE 0
/* All but the last byte. */
#define WS_RECORD_BEGUN 1
#define WS_RECORD_WHOLE 2

/* Whether the len bytes at that address, check included, are a record of that letter. */
uint8_t ws_record_stands(uint16_t at, uint8_t len, uint8_t letter);

/* How many of the first of len bytes at that address are those at bytes. */
uint8_t ws_record_same(uint16_t at, const uint8_t *bytes, uint8_t len);

/* Looks through the slots of len bytes each from that address for the record whose first four bytes are the highest number.
 *
 * One that is whole but for its last byte counts, too: then the power failed within that byte, or within one before, which may read
 * otherwise at the next start. The next record is to go to the same slot then, and else to the one behind it. So a slot is left
 * only for another once all of the record in it was written but for the last byte, which may go on reading as it likes: the record
 * counts with it and without it.
 *
 * out: record: len bytes; untouched where there is none. Returns the slot before the one that the next record goes to; 0 where there
 * is no record. */
uint16_t ws_record_newest(uint16_t first, uint8_t len, uint8_t letter, uint8_t *record);

/* The slot behind the one at that address. in: first: of all slots. */
uint16_t ws_record_next(uint16_t first, uint8_t len, uint16_t at);

#endif
