#include "numbers.h"

#include "message.h"
#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'N'
/* In a record. */
#define STARTS 4

/* Begins to write the record of the next block in the background, where one is left. */
static void begin(ws_numbers *numbers)
{
    uint32_t limit = numbers->next + numbers->left + WS_NUMBERS_BLOCK;

    if (limit < WS_NUMBERS_BLOCK) {
        return;
    }
    numbers->writing = 1;
    numbers->at = ws_record_next(WS_NUMBERS_AT, WS_NUMBERS_RECORD, numbers->at);
    ws_message_write_32(numbers->record, limit);
    ws_record_seal(numbers->record, WS_NUMBERS_RECORD, LETTER);
    ws_eeprom_begin(numbers->at, numbers->record, WS_NUMBERS_RECORD);
}

/* Sees to it that a number is left. Returns 0, or -1 where none is. */
static int fill(ws_numbers *numbers)
{
    uint8_t i;

    /* What others write may have to come to its end, then the record is begun, and then it is there. */
    for (i = 0; i < 3 && numbers->left == 0; i++) {
        ws_numbers_work(numbers);
        while (ws_eeprom_busy()) {
            /* A read waits for the byte under way. */
            ws_record_same(numbers->at, numbers->record, 1);
        }
    }
    return numbers->left == 0 ? -1 : 0;
}

int ws_numbers_start(ws_numbers *numbers)
{
    uint8_t *starts = numbers->record + STARTS;

    numbers->writing = 0;
    numbers->left = 0;
    /* Without a record, no block is left. */
    ws_message_write_32(numbers->record, 0xffffffffu);
    ws_message_write_32(starts, 0xffffffffu);
    numbers->at = ws_record_newest(WS_NUMBERS_AT, WS_NUMBERS_RECORD, LETTER, numbers->record);
    numbers->next = ws_message_read_32(numbers->record);
    ws_message_write_32(starts, ws_message_read_32(starts) + 1);
    return fill(numbers);
}

int ws_numbers_take(ws_numbers *numbers, uint32_t *n)
{
    if (fill(numbers) != 0) {
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
        numbers->writing = 0;
        if (ws_record_same(numbers->at, numbers->record, WS_NUMBERS_RECORD) == WS_NUMBERS_RECORD) {
            numbers->left += WS_NUMBERS_BLOCK;
        }
    } else if (numbers->left < WS_NUMBERS_AHEAD) {
        begin(numbers);
    }
}

uint32_t ws_numbers_next(const ws_numbers *numbers)
{
    return numbers->next;
}

uint32_t ws_numbers_starts(const ws_numbers *numbers)
{
    return ws_message_read_32(numbers->record + STARTS);
}
