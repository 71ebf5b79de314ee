/* What is to run, what is being received and which versions are too old: one record, written anew with each change, so that whatever instruction
 * or flash operation the power fails at, either the old record counts or the new one.
 *
 * Records lie in two sectors of flash, 24 bytes each, one behind the other, big-endian:
 *    0   4  sequence: one more with each record
 *    4   4  floor: the version that was confirmed last; lower ones are neither taken nor run
 *    8   1  confirmed: the slot whose image has reported in, or WS_BOOT_NONE
 *    9   1  trial: the slot whose image is to report in, or WS_BOOT_NONE
 *   10   1  starts that are left to the one on trial
 *   11   1  receiving: the slot that was erased for an image and is being filled, or WS_BOOT_NONE
 *   12   4  image: CRC-32 of that image's header
 *   16   4  CRC-32 (ISO 3309) of "WSB1" and bytes 0 to 15
 *   20   4  mark: zeros, programmed when the record has been read back; no part of it is before
 * The valid record with the highest sequence counts.
 *
 * Bits whose programming or erasing was cut short may read 1 now and 0 later. So
 *   - where nothing of the newest record's mark is programmed, a start programs the record once more with the same bytes, which makes such bits
 *     firm, before anything follows from it, and then the mark: so each start does not program it anew, which some flash does not bear;
 *   - the first change after a start makes zero of the place behind the newest record, where a record may have been begun, erases the
 *     other sector, and begins there: a record goes only where the sector was erased to the end since that start.
 * What is left of records in the sector that is being erased has lower sequences than the firm one in the other.
 *
 * Wear: an erasure for each start that changes anything: one for the update, one for each start on trial, one for the confirmation. */
#ifndef WS_BOOT_JOURNAL_H
#define WS_BOOT_JOURNAL_H

#include <stdint.h>

#define WS_BOOT_NONE 0xff

typedef struct {
    uint32_t sequence;
    uint32_t floor;
    uint8_t confirmed;
    uint8_t trial;
    uint8_t starts;
    uint8_t receiving;
    uint32_t image;
} ws_boot_state;

/* But for the state the members are the implementation's. */
typedef struct {
    ws_boot_state state;
    /* Where the next record goes, once this start has erased that sector. */
    uint8_t sector;
    uint8_t place;
    uint8_t erased;
} ws_boot_journal;

/* Reads the newest record, and makes it firm. Where there is none: nothing confirmed, floor 0.
 *
 * out: journal. */
void ws_boot_journal_start(ws_boot_journal *journal);

/* Writes the state as a new record. in/out: journal. Returns 0 once it is kept; -1 where the memory does not keep it: the record before it
 * counts, or none that says anything else. */
int ws_boot_journal_write(ws_boot_journal *journal);

#endif
