#include "journal.h"

#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'J'

#define CELL 9
#define CELLS (WS_JOURNAL_BYTES / CELL)

/* A record's first byte. */
#define INFO 0x50
#define INFO_MASK 0xf0
#define ALERT 8
#define SUITE 7

#define NUMBER 1
#define AROUND (WS_JOURNAL_BUFFER - WS_MESSAGE_MAX)

static uint16_t place(uint8_t cell)
{
    return WS_JOURNAL_AT + cell * CELL;
}

/* How many cells bytes touch. */
static uint8_t cells_of(uint8_t bytes)
{
    return (uint8_t)(bytes + CELL - 1) / CELL;
}

static void count_one(uint8_t *counter)
{
    if (*counter < 255) {
        ++*counter;
    }
}

/* Bytes of a record with this first byte; 0 where it begins none. */
static uint8_t bytes_of(uint8_t info)
{
    uint8_t bytes = 0;

    if ((info & INFO_MASK) == INFO) {
        bytes = ws_message_bytes(WS_KIND_REPORT, info & SUITE);
    }
    return bytes == 0 ? 0 : bytes + AROUND;
}

static uint8_t info_at(uint8_t cell)
{
    uint8_t info;

    ws_eeprom_read(place(cell), &info, 1);
    return info;
}

static uint32_t number_at(uint8_t cell)
{
    uint8_t number[4];

    ws_eeprom_read(place(cell) + NUMBER, number, sizeof number);
    return ws_message_read_32(number);
}

/* The cell behind a record. */
static uint8_t end_of(uint8_t cell)
{
    return cell + cells_of(bytes_of(info_at(cell)));
}

/* Whether the oldest record is in the caller's buffer. */
static uint8_t in_buffer(const ws_journal *journal)
{
    return journal->writing && journal->count == 1;
}

/* Marks a record as done, in the background. */
static void finish(ws_journal *journal, uint8_t cell)
{
    uint16_t last = place(cell) + bytes_of(info_at(cell)) - 1;
    uint8_t byte;

    /* Waits for the byte under way: the mark before this one is free then. */
    ws_eeprom_read(last, &byte, 1);
    journal->mark = ~byte;
    ws_eeprom_begin(last, &journal->mark, 1);
}

/* Takes a record out of the list. */
static void leave_out(ws_journal *journal, uint8_t which)
{
    for (journal->count--; which < journal->count; which++) {
        journal->cells[which] = journal->cells[which + 1];
    }
}

/* Drops the oldest measurement, or the oldest alert where there is none. */
static void drop(ws_journal *journal)
{
    uint8_t i;

    for (i = 0; i < journal->count; i++) {
        if (!(info_at(journal->cells[i]) & ALERT)) {
            count_one(&journal->lost);
            break;
        }
    }
    if (i == journal->count) {
        i = 0;
    }
    finish(journal, journal->cells[i]);
    leave_out(journal, i);
}

/* Brings the head to where so many cells are free, if there are. */
static uint8_t find_room(ws_journal *journal, uint8_t cells)
{
    uint8_t at = journal->head;
    uint8_t around = 0;
    uint8_t i = 0;

    while (i < journal->count || at + cells > CELLS) {
        if (at + cells > CELLS) {
            if (around++) {
                return 0;
            }
            at = 0;
            i = 0;
        } else {
            uint8_t cell = journal->cells[i++];
            uint8_t end = end_of(cell);

            if (cell < at + cells && end > at) {
                at = end;
                i = 0;
            }
        }
    }
    journal->head = at;
    return 1;
}

/* Puts a record that was found into the list, in the order of numbers. */
static void put(ws_journal *journal, uint8_t cell)
{
    uint32_t number = number_at(cell);
    uint8_t i = journal->count++;

    for (; i > 0 && number_at(journal->cells[i - 1]) > number; i--) {
        journal->cells[i] = journal->cells[i - 1];
    }
    journal->cells[i] = cell;
}

void ws_journal_start(ws_journal *journal)
{
    uint8_t cell = 0;

    journal->count = 0;
    journal->head = 0;
    journal->writing = 0;
    journal->lost = 0;
    journal->damaged = 0;
    while (cell < CELLS && journal->count < WS_JOURNAL_RECORDS) {
        uint8_t bytes = bytes_of(info_at(cell));
        uint8_t cells = cells_of(bytes);

        if (bytes != 0 && cell + cells <= CELLS && ws_record_stands(place(cell), bytes, LETTER)) {
            put(journal, cell);
            cell += cells;
        } else {
            cell++;
        }
    }
    if (journal->count > 0) {
        journal->head = end_of(journal->cells[journal->count - 1]);
    }
}

void ws_journal_append(ws_journal *journal, uint8_t *buffer, uint32_t n, uint8_t suite, uint8_t alert)
{
    uint8_t bytes;

    buffer[0] = INFO | (alert ? ALERT : 0) | suite;
    bytes = bytes_of(buffer[0]);
    ws_message_write_32(buffer + NUMBER, n);
    ws_record_seal(buffer, bytes, LETTER);
    while (journal->count == WS_JOURNAL_RECORDS || !find_room(journal, cells_of(bytes))) {
        drop(journal);
    }
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
    while (journal->count > 0) {
        uint8_t cell = journal->cells[0];
        uint8_t info = in_buffer(journal) ? journal->writing[0] : info_at(cell);
        uint8_t bytes = bytes_of(info);

        if (in_buffer(journal)) {
            report->n = ws_message_read_32(journal->writing + NUMBER);
        } else if (bytes != 0 && ws_record_stands(place(cell), bytes, LETTER)) {
            report->n = number_at(cell);
        } else {
            count_one(&journal->damaged);
            leave_out(journal, 0);
            continue;
        }
        report->suite = info & SUITE;
        report->len = bytes - AROUND;
        report->alert = (info & ALERT) != 0;
        return 1;
    }
    return 0;
}

void ws_journal_read(ws_journal *journal, uint8_t offset, uint8_t *out, uint8_t len)
{
    uint8_t i;

    offset += WS_JOURNAL_MESSAGE;
    if (!in_buffer(journal)) {
        ws_eeprom_read(place(journal->cells[0]) + offset, out, len);
        return;
    }
    for (i = 0; i < len; i++) {
        out[i] = journal->writing[offset + i];
    }
}

uint8_t ws_journal_acknowledged(ws_journal *journal, uint32_t n)
{
    uint8_t cell = journal->cells[0];
    uint8_t buffered = in_buffer(journal);
    uint8_t complete = 1;

    if (journal->count == 0 || (buffered ? ws_message_read_32(journal->writing + NUMBER) : number_at(cell)) != n) {
        return 0;
    }
    if (buffered) {
        uint8_t bytes = bytes_of(journal->writing[0]);
        uint8_t written;

        ws_eeprom_abandon();
        written = ws_record_same(place(cell), journal->writing, bytes);
        complete = written == bytes;
        journal->head = cell + cells_of(written);
        journal->writing = 0;
    }
    if (complete) {
        finish(journal, cell);
    }
    leave_out(journal, 0);
    return 1;
}
