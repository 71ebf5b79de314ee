/* Sealed reports that were not acknowledged yet, in EEPROM: the oldest is kept until it is acknowledged, over restarts and power
 * failures at any byte write. What is assumed of the EEPROM: numbers.h.
 *
 * A record, in the caller's buffer as in EEPROM:
 *    0   1  0x50, | 8 if it is an alert, | suite
 *    1   4  n
 *    5  len the message: 16, 36, 112 or 144 bytes, as the suite says
 *  5+len 4  CRC-32 of "WSJ1" and all bytes before it
 * It is valid or it is not there: what a cut or an abandonment leaves has no fitting check. The newest record is held in the
 * caller's buffer alone until it is to be written: an acknowledgement that comes before spares all of that. Records are written
 * in the background, straight from that buffer, in the order of addresses; they begin at multiples of 9 bytes and do not wrap. A
 * record is done once one of its last 16 bytes is not what it was: one byte write. The order of records is that of n.
 *
 * The memory is written round and round. Where there is no room, the oldest measurement is dropped, and counted; an alert only
 * where no measurement is left to make room. Where records of several lengths wait, the oldest is the one first in the way. A record that does not read as it should any more is left out, and counted, too. */
#ifndef WS_METER_JOURNAL_H
#define WS_METER_JOURNAL_H

#include "message.h"

#include <stdint.h>

#define WS_JOURNAL_AT 256
#define WS_JOURNAL_BYTES 768

/* Records at most: as many as there is room for with 36 bytes each; 5 with 144 or 112 bytes. */
#define WS_JOURNAL_RECORDS 17

/* Where the message lies in a buffer, and the bytes of a buffer. */
#define WS_JOURNAL_MESSAGE 5
#define WS_JOURNAL_BUFFER (WS_JOURNAL_MESSAGE + WS_MESSAGE_MAX + 4)

/* The members are the implementation's, but for lost and damaged. */
typedef struct {
    /* Where records begin, the oldest first, and how many there are. */
    uint8_t cells[WS_JOURNAL_RECORDS];
    uint8_t count;
    /* Where the next record goes, if there is room. */
    uint8_t head;
    /* The byte that marks a record as done, while it is being written. */
    uint8_t mark;
    /* The buffer of the newest record, while it is held or being written; else a null pointer. */
    const uint8_t *writing;
    /* Measurements dropped for want of room, and records that were valid and are not any more: 255 is 255 or more. The caller
     * sets them to 0 when it likes. */
    uint8_t lost;
    uint8_t damaged;
    /* Whether the newest record is being written. */
    uint8_t begun;
} ws_journal;

/* A record that waits. */
typedef struct {
    uint32_t n;
    uint8_t suite;
    uint8_t len;
    /* Not 0 if it is an alert. */
    uint8_t alert;
} ws_journal_report;

/* Finds the records that wait, and writes nothing.
 *
 * out: journal, which stays where it is from now on. */
void ws_journal_start(ws_journal *journal);

/* Takes a record in, held in the buffer. Waits for one byte write for each record that is dropped.
 *
 * in:     buffer: the message at WS_JOURNAL_MESSAGE, as long as message.h has it for a report. n: above all before. suite: of this build. alert:
 *         0 or 1. None is held, and no append is under way (ws_journal_busy).
 * in/out: buffer: what is around the message is filled in. It must stay as it is until ws_journal_busy returns 0. */
void ws_journal_hold(ws_journal *journal, uint8_t *buffer, uint32_t n, uint8_t suite, uint8_t alert);

/* Begins to append the record that is held, in the background, where there is one. Waits for what is being written before. */
void ws_journal_append(ws_journal *journal);

/* Whether a record is held, or an append under way. Once this returns 0, the record stands, and the buffer is free. */
uint8_t ws_journal_busy(ws_journal *journal);

/* The oldest record that waits, also one that is held or whose append is under way. Looks at its check, and goes to the next one where that does
 * not fit: to be called before each sending, and before the report is taken for acknowledged.
 *
 * out: report. Returns 1; 0, and nothing, where none waits. */
uint8_t ws_journal_oldest(ws_journal *journal, ws_journal_report *report);

/* Copies len bytes of the oldest record's message from offset: from EEPROM, or from the buffer while ws_journal_busy.
 *
 * in: ws_journal_oldest has returned 1, and no record was taken in or acknowledged since. out overlaps nothing. */
void ws_journal_read(ws_journal *journal, uint8_t offset, uint8_t *out, uint8_t len);

/* The oldest record was acknowledged: it waits no more. Where it is held, nothing of it is written; where its append is under way,
 * that is given up (its buffer is free then); else the record is marked in the background: one byte write, for which it waits until an
 * append under way is at its end.
 *
 * in: ws_journal_oldest has returned 1, and no record was taken in or acknowledged since. */
void ws_journal_acknowledged(ws_journal *journal);

#endif
