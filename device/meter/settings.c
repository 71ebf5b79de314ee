#include "settings.h"

#include "record.h"

#include "../drivers/eeprom.h"

#include <stddef.h>

#define LETTER 'S'

/* All before it is bytes: the structure begins with the record. */
typedef char ws_settings_begins_with_the_record[offsetof(ws_settings, at) == WS_SETTINGS_RECORD ? 1 : -1];

int ws_settings_start(ws_settings *settings)
{
    uint8_t *record = (uint8_t *)settings;
    uint8_t i;

    for (i = 0; i < WS_SETTINGS_RECORD; i++) {
        record[i] = 0;
    }
    settings->at = ws_record_newest(WS_SETTINGS_AT, WS_SETTINGS_RECORD, LETTER, record);
    return settings->at == 0 ? -1 : ws_settings_keep(settings);
}

int ws_settings_keep(ws_settings *settings)
{
    uint8_t *record = (uint8_t *)settings;

    settings->at = ws_record_next(WS_SETTINGS_AT, WS_SETTINGS_RECORD, settings->at);
    ws_message_write_32(record, ws_message_read_32(record) + 1);
    ws_record_seal(record, WS_SETTINGS_RECORD, LETTER);
    ws_eeprom_write(settings->at, record, WS_SETTINGS_RECORD);
    return ws_record_same(settings->at, record, WS_SETTINGS_RECORD) == WS_SETTINGS_RECORD ? 0 : -1;
}
