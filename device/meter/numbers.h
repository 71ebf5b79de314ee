/* The meter's numbers n: none is given out twice, whatever byte write the power fails in (docs/reference/protocol.md, "Numbers").
 *
 * Numbers are reserved in blocks of WS_NUMBERS_BLOCK: a record in EEPROM says which number is the first that is not reserved, and
 * numbers are given out only below it, once the record was written to its end and read back. After a start the rest of a
 * block is left: numbers go on where the newest record ends.
 *
 * What is assumed of the EEPROM, here and in settings.h and journal.h: a byte whose writing the power's loss cut short may read
 * anything, and something else at each start, until it is written to its end; no other byte changes. (drivers/eeprom.h:
 * every byte is written, also one that seems to have its value.) One start reads the same of a byte each time.
 *
 * There are three slots, and the valid record with the highest limit counts (record.h says where the next one goes). A record
 * that was cut short may be valid at one start and not at another, but then it never reads as the one before it, all of whose
 * bytes but one are gone. So each start writes a record of its own, which is firm when it was read back, before it gives out a
 * number; until then nothing hangs on the one found. That is why no number comes twice, whatever is left. The meter may be left
 * without a record, so that it seals nothing any more, only by many power failures in a row, each within the record that a
 * start writes (40 ms), most within its last two bytes, whose bits must then read in the worst way from start to start: where
 * all of them hit such bytes, and all those bytes are unstable, about one in 2,000 has done so, and none before the fifth in a row
 * (crates/device/tests/meter/numbers.rs).
 *
 * Wear: a record for each start and each WS_NUMBERS_BLOCK messages, in one slot of three after the other. */
#ifndef WS_METER_NUMBERS_H
#define WS_METER_NUMBERS_H

#include <stdint.h>

#define WS_NUMBERS_AT 120
#define WS_NUMBERS_RECORD 12

#define WS_NUMBERS_BLOCK 256
/* The next block is reserved once fewer than so many are left. */
#define WS_NUMBERS_AHEAD 64

/* The members are the implementation's. */
typedef struct {
    /* The next number to be given out, and how many are reserved from it. */
    uint32_t next;
    uint16_t left;
    /* What is being written or was last: it must stay while the EEPROM is busy. */
    uint8_t record[WS_NUMBERS_RECORD];
    /* Where; and whether it is being written in the background. */
    uint16_t at;
    uint8_t writing;
} ws_numbers;

/* Finds the newest record, counts the start, and reserves a block; waits until it stands: 12 byte writes.
 *
 * out: numbers, which stays where it is from now on. Returns 0; -1 where there is no valid record (an erased memory), no block is
 * left, or the memory does not keep what is written. */
int ws_numbers_start(ws_numbers *numbers);

/* Gives out a number. Where none is left, waits until a block is reserved.
 *
 * in/out: numbers, started. out: n. Returns 0; -1, and no number, where all are used (2^32 less two blocks at most), where
 * there was no valid record, or where the memory does not keep what is written. */
int ws_numbers_take(ws_numbers *numbers, uint32_t *n);

/* The number that is given out next, where one is: above every one before. in: numbers, started. */
uint32_t ws_numbers_next(const ws_numbers *numbers);

/* Begins to reserve the next block in the background, where it is time to and the EEPROM is not busy; once that is written, sees
 * that it stands. To be called often, but not while an append is under way (ws_journal_busy). Does not wait. */
void ws_numbers_work(ws_numbers *numbers);

/* Starts so far, with this one; as of 0 where there was no valid record. in: numbers, started. */
uint32_t ws_numbers_starts(const ws_numbers *numbers);

#endif
