#include "journal.h"

#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'J'

#define CELL 9
#define CELLS (WS_JOURNAL_BYTES / CELL)
#define CELLS_LEAST (CELLS / WS_JOURNAL_RECORDS)

/* A record's first byte. */
#define INFO 0x50
#define INFO_MASK 0xf0
#define ALERT 8
#define SUITE 7

/* How many bytes there are for the mark: a power of 2. */
#define MARKS 16

#define AROUND (WS_JOURNAL_BUFFER - WS_MESSAGE_MAX)

static uint16_t place(uint8_t cell)
{
    return WS_JOURNAL_AT + cell * CELL;
}

/* How many cells so many bytes touch. */
static uint8_t touched(uint8_t bytes)
{
    return (uint8_t)(bytes + CELL - 1) / CELL;
}

/* How many cells a record takes: no fewer than five, so that there are no more than WS_JOURNAL_RECORDS. */
static uint8_t cells_of(uint8_t bytes)
{
    return touched(bytes < CELLS_LEAST * CELL ? CELLS_LEAST * CELL : bytes);
}

static void count_one(uint8_t *counter)
{
    if (*counter != 255) {
        ++*counter;
    }
}

/* Whether the record of that cell is in the caller's buffer: the newest one is, while it is being written. */
static uint8_t in_buffer(const ws_journal *journal, uint8_t cell)
{
    return journal->writing && cell == journal->cells[journal->count - 1];
}

/* Copies bytes of a record. */
static void read(const ws_journal *journal, uint8_t cell, uint8_t offset, uint8_t *out, uint8_t len)
{
    const uint8_t *in;

    if (!in_buffer(journal, cell)) {
        ws_eeprom_read(place(cell) + offset, out, len);
        return;
    }
    for (in = journal->writing + offset; len > 0; len--) {
        *out++ = *in++;
    }
}

/* What the record at a cell says that it is. Returns its bytes; 0, out untouched, where none begins there. */
static uint8_t look(const ws_journal *journal, uint8_t cell, ws_journal_report *out)
{
    uint8_t bytes[WS_JOURNAL_MESSAGE];
    uint8_t len;

    read(journal, cell, 0, bytes, sizeof bytes);
    len = ws_message_bytes(WS_KIND_REPORT, bytes[0] & SUITE);
    if ((bytes[0] & INFO_MASK) != INFO || len == 0) {
        return 0;
    }
    out->n = ws_message_read_32(bytes + 1);
    out->suite = bytes[0] & SUITE;
    out->len = len;
    out->alert = bytes[0] & ALERT;
    return len + AROUND;
}

/* Marks a record of so many bytes as done, in the background: one of its last bytes, another one each time, for the wear. */
static void finish(ws_journal *journal, uint8_t cell, uint8_t bytes, uint32_t n)
{
    uint16_t at = place(cell) + bytes - 1 - ((uint8_t)n & (MARKS - 1));
    uint8_t byte;

    /* Waits for the byte under way: if that was a mark, journal->mark is free now. */
    ws_eeprom_read(at, &byte, 1);
    journal->mark = ~byte;
    ws_eeprom_begin(at, &journal->mark, 1);
}

/* Takes a record out of the list. */
static void leave_out(ws_journal *journal, uint8_t which)
{
    for (journal->count--; which < journal->count; which++) {
        journal->cells[which] = journal->cells[which + 1];
    }
}

void ws_journal_start(ws_journal *journal)
{
    ws_journal_report found;
    ws_journal_report other;
    uint8_t cell;

    journal->count = 0;
    journal->head = 0;
    journal->writing = 0;
    journal->lost = 0;
    journal->damaged = 0;
    for (cell = 0; cell < CELLS && journal->count < WS_JOURNAL_RECORDS; cell++) {
        uint8_t bytes = look(journal, cell, &found);
        uint8_t end = cell + cells_of(bytes);
        uint8_t i;

        if (bytes == 0 || end > CELLS || ws_record_stands(place(cell), bytes, LETTER) != WS_RECORD_WHOLE) {
            continue;
        }
        /* In the order of numbers; the next one goes behind the newest. */
        for (i = journal->count; i > 0; i--) {
            look(journal, journal->cells[i - 1], &other);
            if (other.n < found.n) {
                break;
            }
            journal->cells[i] = journal->cells[i - 1];
        }
        journal->cells[i] = cell;
        if (i == journal->count++) {
            journal->head = end;
        }
    }
}

/* Brings the head to where so many cells are free: over alerts, once over each, and through what else is in the way, which is
 * dropped. It goes around in the order in which records came, so that this is the oldest. */
static void make_room(ws_journal *journal, uint8_t cells)
{
    ws_journal_report report;
    uint8_t passed = 0;
    uint8_t i = 0;

    while (i < journal->count || journal->head + cells > CELLS) {
        uint8_t cell;
        uint8_t bytes;
        uint8_t end;

        if (journal->head + cells > CELLS) {
            journal->head = 0;
            i = 0;
            continue;
        }
        cell = journal->cells[i];
        bytes = look(journal, cell, &report);
        end = cell + cells_of(bytes);
        if (cell >= journal->head + cells || end <= journal->head) {
            i++;
            continue;
        }
        if (report.alert && passed < WS_JOURNAL_RECORDS) {
            passed++;
            journal->head = end;
        } else {
            if (!report.alert) {
                count_one(&journal->lost);
            }
            finish(journal, cell, bytes, report.n);
            leave_out(journal, i);
        }
        i = 0;
    }
    /* Only where a power failure left records that were dropped. */
    if (journal->count == WS_JOURNAL_RECORDS) {
        leave_out(journal, 0);
    }
}

void ws_journal_append(ws_journal *journal, uint8_t *buffer, uint32_t n, uint8_t suite, uint8_t alert)
{
    uint8_t bytes = ws_message_bytes(WS_KIND_REPORT, suite) + AROUND;

    buffer[0] = INFO | suite;
    if (alert) {
        buffer[0] |= ALERT;
    }
    ws_message_write_32(buffer + 1, n);
    ws_record_seal(buffer, bytes, LETTER);
    make_room(journal, cells_of(bytes));
    journal->cells[journal->count++] = journal->head;
    ws_eeprom_begin(place(journal->head), buffer, bytes);
    journal->head += cells_of(bytes);
    journal->writing = buffer;
}

uint8_t ws_journal_busy(ws_journal *journal)
{
    if (!ws_eeprom_busy()) {
        journal->writing = 0;
    }
    return journal->writing != 0;
}

uint8_t ws_journal_oldest(ws_journal *journal, ws_journal_report *report)
{
    for (; journal->count > 0; leave_out(journal, 0)) {
        uint8_t cell = journal->cells[0];
        uint8_t bytes = look(journal, cell, report);

        if (in_buffer(journal, cell) || (bytes != 0 && ws_record_stands(place(cell), bytes, LETTER) == WS_RECORD_WHOLE)) {
            return 1;
        }
        count_one(&journal->damaged);
    }
    return 0;
}

void ws_journal_read(ws_journal *journal, uint8_t offset, uint8_t *out, uint8_t len)
{
    read(journal, journal->cells[0], WS_JOURNAL_MESSAGE + offset, out, len);
}

void ws_journal_acknowledged(ws_journal *journal)
{
    ws_journal_report report;
    uint8_t cell = journal->cells[0];
    uint8_t bytes = look(journal, cell, &report);
    uint8_t written = bytes;

    if (in_buffer(journal, cell)) {
        ws_eeprom_abandon();
        written = ws_record_same(place(cell), journal->writing, bytes);
        journal->head = cell + touched(written);
        journal->writing = 0;
    }
    if (written == bytes) {
        finish(journal, cell, bytes, report.n);
    }
    leave_out(journal, 0);
}
