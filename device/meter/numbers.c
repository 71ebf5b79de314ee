#include "numbers.h"

#include "message.h"
#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'N'
/* In a record. */
#define STARTS 4

/* Makes the record of the next block, and finds its slot. Returns 0 where no block is left. */
static uint8_t prepare(ws_numbers *numbers)
{
    if (numbers->limit > 0xffffffffu - WS_NUMBERS_BLOCK) {
        return 0;
    }
    numbers->at = ws_record_newest(WS_NUMBERS_AT, WS_NUMBERS_RECORD, LETTER).next;
    ws_message_write_32(numbers->record, numbers->limit + WS_NUMBERS_BLOCK);
    ws_record_seal(numbers->record, WS_NUMBERS_RECORD, LETTER);
    return 1;
}

/* Reserves the next block, and waits until it is. Returns 0 or -1. */
static int reserve(ws_numbers *numbers)
{
    /* What is being written in the background is this record already. */
    if (!numbers->writing && !prepare(numbers)) {
        return -1;
    }
    numbers->writing = 0;
    if (!ws_record_write(numbers->at, numbers->record, WS_NUMBERS_RECORD)) {
        return -1;
    }
    numbers->limit += WS_NUMBERS_BLOCK;
    return 0;
}

int ws_numbers_start(ws_numbers *numbers)
{
    uint16_t newest = ws_record_newest(WS_NUMBERS_AT, WS_NUMBERS_RECORD, LETTER).newest;
    uint8_t *starts = numbers->record + STARTS;

    numbers->writing = 0;
    /* Without a record, no number is left. */
    numbers->next = numbers->limit = 0xffffffffu;
    ws_message_write_32(starts, 0);
    if (newest == 0) {
        return -1;
    }
    ws_eeprom_read(newest, numbers->record, WS_NUMBERS_RECORD);
    numbers->next = numbers->limit = ws_message_read_32(numbers->record);
    ws_message_write_32(starts, ws_message_read_32(starts) + 1);
    return reserve(numbers);
}

int ws_numbers_take(ws_numbers *numbers, uint32_t *n)
{
    if (numbers->next == numbers->limit && reserve(numbers) != 0) {
        return -1;
    }
    *n = numbers->next++;
    return 0;
}

void ws_numbers_work(ws_numbers *numbers)
{
    if (ws_eeprom_busy()) {
        return;
    }
    if (numbers->writing) {
        numbers->writing = 0;
        if (ws_record_same(numbers->at, numbers->record, WS_NUMBERS_RECORD) == WS_NUMBERS_RECORD) {
            numbers->limit += WS_NUMBERS_BLOCK;
        }
    } else if (numbers->limit - numbers->next < WS_NUMBERS_AHEAD && prepare(numbers)) {
        numbers->writing = 1;
        ws_eeprom_begin(numbers->at, numbers->record, WS_NUMBERS_RECORD);
    }
}

uint32_t ws_numbers_starts(const ws_numbers *numbers)
{
    return ws_message_read_32(numbers->record + STARTS);
}
