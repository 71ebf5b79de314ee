#include "numbers.h"

#include "message.h"
#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'N'
/* In a record. */
#define STARTS 4

/* Makes the record of the next block, and begins to write it in the background. Returns 0 where no block is left. */
static uint8_t begin(ws_numbers *numbers)
{
    uint32_t limit = numbers->next + numbers->left + WS_NUMBERS_BLOCK;

    if (limit < WS_NUMBERS_BLOCK) {
        return 0;
    }
    numbers->writing = 1;
    numbers->at = ws_record_next(WS_NUMBERS_AT, WS_NUMBERS_RECORD, numbers->at);
    ws_message_write_32(numbers->record, limit);
    ws_record_seal(numbers->record, WS_NUMBERS_RECORD, LETTER);
    ws_eeprom_begin(numbers->at, numbers->record, WS_NUMBERS_RECORD);
    return 1;
}

/* What was written is at its end: the block is reserved, if the record stands. Returns 0 or -1. */
static int confirm(ws_numbers *numbers)
{
    numbers->writing = 0;
    if (ws_record_same(numbers->at, numbers->record, WS_NUMBERS_RECORD) != WS_NUMBERS_RECORD) {
        return -1;
    }
    numbers->left += WS_NUMBERS_BLOCK;
    return 0;
}

/* Reserves the next block, and waits until it is. Returns 0 or -1. */
static int reserve(ws_numbers *numbers)
{
    if (!numbers->writing && !begin(numbers)) {
        return -1;
    }
    while (ws_eeprom_busy()) {
        /* A read waits for the byte under way. */
        ws_record_same(numbers->at, numbers->record, 1);
    }
    return confirm(numbers);
}

int ws_numbers_start(ws_numbers *numbers)
{
    uint8_t *starts = numbers->record + STARTS;

    numbers->writing = 0;
    numbers->left = 0;
    /* Without a record, no block is left. */
    numbers->next = 0xffffffffu;
    ws_message_write_32(starts, 0);
    numbers->at = ws_record_newest(WS_NUMBERS_AT, WS_NUMBERS_RECORD, LETTER, numbers->record);
    if (numbers->at == 0) {
        return -1;
    }
    numbers->next = ws_message_read_32(numbers->record);
    ws_message_write_32(starts, ws_message_read_32(starts) + 1);
    return reserve(numbers);
}

int ws_numbers_take(ws_numbers *numbers, uint32_t *n)
{
    if (numbers->left == 0 && reserve(numbers) != 0) {
        return -1;
    }
    numbers->left--;
    *n = numbers->next++;
    return 0;
}

void ws_numbers_work(ws_numbers *numbers)
{
    if (ws_eeprom_busy()) {
        return;
    }
    if (numbers->writing) {
        confirm(numbers);
    } else if (numbers->left < WS_NUMBERS_AHEAD) {
        begin(numbers);
    }
}

uint32_t ws_numbers_starts(const ws_numbers *numbers)
{
    return ws_message_read_32(numbers->record + STARTS);
}
