#include "register.h"

#include "../drivers/eeprom.h"
#include "../meter/message.h"
#include "../meter/record.h"

#define LETTER 'R'

static uint16_t place(uint8_t slot)
{
    return (uint16_t)(WS_REGISTER_AT + (uint16_t)slot * WS_REGISTER_RECORD);
}

static uint8_t next(uint8_t slot)
{
    return slot + 1 == WS_REGISTER_SLOTS ? 0 : (uint8_t)(slot + 1);
}

void ws_register_start(ws_register *kept)
{
    uint8_t slot;

    kept->n = 0;
    kept->energy = 0;
    kept->slot = 0;
    for (slot = 0; slot < WS_REGISTER_SLOTS; slot++) {
        uint8_t record[WS_REGISTER_RECORD];

        if (ws_record_stands(place(slot), WS_REGISTER_RECORD, LETTER) != WS_RECORD_WHOLE) {
            continue;
        }
        ws_eeprom_read(place(slot), record, sizeof record);
        if (ws_message_read_32(record) > kept->n) {
            kept->n = ws_message_read_32(record);
            kept->energy = ws_message_read_32(record + 4);
            kept->slot = next(slot);
        }
    }
}

int ws_register_keep(ws_register *kept, uint32_t n, uint32_t energy)
{
    uint8_t record[WS_REGISTER_RECORD];
    const uint16_t at = place(kept->slot);

    ws_message_write_32(record, n);
    ws_message_write_32(record + 4, energy);
    ws_record_seal(record, sizeof record, LETTER);
    ws_eeprom_write(at, record, sizeof record);
    if (ws_record_same(at, record, sizeof record) != sizeof record) {
        return -1;
    }
    kept->n = n;
    kept->energy = energy;
    kept->slot = next(kept->slot);
    return 0;
}
