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

/* Whether the record of that cell is in the caller's buffer: the newest one is, until it was written. */
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

/* A record's first byte. */
static uint8_t info_of(const ws_journal *journal, uint8_t cell)
{
    uint8_t info;

    read(journal, cell, 0, &info, 1);
    return info;
}

/* Bytes of a record with this first byte; 0 where it begins none. */
static uint8_t bytes_of(uint8_t info)
{
    uint8_t len = ws_message_bytes(WS_KIND_REPORT, info & SUITE);

    return (info & INFO_MASK) != INFO || len == 0 ? 0 : len + AROUND;
}

static uint32_t number_of(const ws_journal *journal, uint8_t cell)
{
    uint8_t number[4];

    read(journal, cell, 1, number, sizeof number);
    return ws_message_read_32(number);
}

/* Marks a record as done, in the background: one of its last bytes, by chance another one each time, for the wear. */
static void finish(ws_journal *journal, uint8_t cell)
{
    uint16_t at = place(cell) + bytes_of(info_of(journal, cell)) - 1;
    uint8_t byte;

    /* Waits for the byte under way: if that was a mark, journal->mark is free now. */
    ws_eeprom_read(at, &byte, 1);
    at -= byte & (MARKS - 1);
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
    uint8_t cell;

    journal->count = 0;
    journal->head = 0;
    journal->writing = 0;
    journal->begun = 0;
    journal->lost = 0;
    journal->damaged = 0;
    for (cell = 0; cell < CELLS && journal->count < WS_JOURNAL_RECORDS; cell++) {
        uint8_t bytes = bytes_of(info_of(journal, cell));
        uint8_t end = cell + cells_of(bytes);
        uint32_t number;
        uint8_t i;

        if (bytes == 0 || end > CELLS || ws_record_stands(place(cell), bytes, LETTER) != WS_RECORD_WHOLE) {
            continue;
        }
        /* In the order of numbers; the next one goes behind the newest. */
        number = number_of(journal, cell);
        for (i = journal->count; i > 0 && number_of(journal, journal->cells[i - 1]) > number; i--) {
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
    uint8_t passed = 0;
    uint8_t i = 0;

    for (;;) {
        uint8_t behind = journal->head + cells;
        uint8_t cell;
        uint8_t info;
        uint8_t end;

        if (behind > CELLS) {
            journal->head = 0;
            i = 0;
            continue;
        }
        if (i == journal->count) {
            break;
        }
        cell = journal->cells[i];
        info = info_of(journal, cell);
        end = cell + cells_of(bytes_of(info));
        if (cell >= behind || end <= journal->head) {
            i++;
            continue;
        }
        if ((info & ALERT) && passed < WS_JOURNAL_RECORDS) {
            passed++;
            journal->head = end;
        } else {
            if (!(info & ALERT)) {
                count_one(&journal->lost);
            }
            finish(journal, cell);
            leave_out(journal, i);
        }
        i = 0;
    }
    /* Only where a power failure left records that were dropped. */
    if (i == WS_JOURNAL_RECORDS) {
        leave_out(journal, 0);
    }
}

void ws_journal_hold(ws_journal *journal, uint8_t *buffer, uint32_t n, uint8_t suite, uint8_t alert)
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
    journal->head += cells_of(bytes);
    journal->writing = buffer;
    journal->begun = 0;
}

void ws_journal_append(ws_journal *journal)
{
    if (journal->writing && !journal->begun) {
        journal->begun = 1;
        ws_eeprom_begin(place(journal->cells[journal->count - 1]), journal->writing, bytes_of(journal->writing[0]));
    }
}

uint8_t ws_journal_busy(ws_journal *journal)
{
    if (journal->begun && !ws_eeprom_busy()) {
        journal->writing = 0;
    }
    return journal->writing != 0;
}

uint8_t ws_journal_oldest(ws_journal *journal, ws_journal_report *report)
{
    for (; journal->count > 0; leave_out(journal, 0)) {
        uint8_t cell = journal->cells[0];
        uint8_t info = info_of(journal, cell);
        uint8_t bytes = bytes_of(info);

        if (in_buffer(journal, cell) ||
            (bytes != 0 && ws_record_stands(place(cell), bytes, LETTER) == WS_RECORD_WHOLE)) {
            report->n = number_of(journal, cell);
            report->suite = info & SUITE;
            report->len = bytes - AROUND;
            report->alert = info & ALERT;
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
    uint8_t cell = journal->cells[0];
    uint8_t bytes = bytes_of(info_of(journal, cell));
    uint8_t written = bytes;

    if (in_buffer(journal, cell)) {
        written = 0;
        if (journal->begun) {
            ws_eeprom_abandon();
            written = ws_record_same(place(cell), journal->writing, bytes);
        }
        journal->head = cell + touched(written);
        journal->writing = 0;
    }
    if (written == bytes) {
        finish(journal, cell);
    }
    leave_out(journal, 0);
}
