#include "settings.h"

#include "message.h"
#include "record.h"

#include "../drivers/eeprom.h"

#define LETTER 'S'

/* Everything is bytes: the structure is the record. */
typedef char ws_settings_is_the_record[sizeof(ws_settings) == WS_SETTINGS_RECORD ? 1 : -1];

int ws_settings_start(ws_settings *settings)
{
    uint8_t *record = (uint8_t *)settings;
    uint16_t newest = ws_record_newest(WS_SETTINGS_AT, WS_SETTINGS_RECORD, LETTER).newest;
    uint8_t i;

    if (newest == 0) {
        for (i = 0; i < WS_SETTINGS_RECORD; i++) {
            record[i] = 0;
        }
        return -1;
    }
    ws_eeprom_read(newest, record, WS_SETTINGS_RECORD);
    return ws_settings_keep(settings);
}

int ws_settings_keep(ws_settings *settings)
{
    uint8_t *record = (uint8_t *)settings;
    uint16_t next = ws_record_newest(WS_SETTINGS_AT, WS_SETTINGS_RECORD, LETTER).next;

    ws_message_write_32(settings->generation, ws_message_read_32(settings->generation) + 1);
    ws_record_seal(record, WS_SETTINGS_RECORD, LETTER);
    return ws_record_write(next, record, WS_SETTINGS_RECORD) ? 0 : -1;
}
