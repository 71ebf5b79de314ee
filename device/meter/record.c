#include "record.h"

#include "message.h"

#include "../crypto/crc32.h"
#include "../drivers/eeprom.h"

#define CHECK 4
/* Bytes that are read at once: a read waits for a byte write that is under way. */
#define PIECE 16

static uint32_t begin(uint8_t letter)
{
    uint8_t name[4];

    /* "WS", letter, "1". */
    ws_message_write_32(name, 0x57530031 | (uint32_t)letter << 8);
    return ws_crc32(WS_CRC32_BEGIN, name, sizeof name);
}

void ws_record_seal(uint8_t *record, uint8_t len, uint8_t letter)
{
    len -= CHECK;
    ws_message_write_32(record + len, ~ws_crc32(begin(letter), record, len));
}

uint8_t ws_record_stands(uint16_t at, uint8_t len, uint8_t letter)
{
    uint8_t bytes[PIECE];
    uint32_t crc = begin(letter);
    uint32_t difference;

    len -= CHECK;
    while (len > 0) {
        uint8_t piece = len < PIECE ? len : PIECE;

        ws_eeprom_read(at, bytes, piece);
        crc = ws_crc32(crc, bytes, piece);
        at += piece;
        len -= piece;
    }
    ws_eeprom_read(at, bytes, CHECK);
    difference = ws_message_read_32(bytes) ^ ~crc;
    if (difference == 0) {
        return WS_RECORD_WHOLE;
    }
    return difference > 0xff ? WS_RECORD_NONE : WS_RECORD_BEGUN;
}

uint8_t ws_record_same(uint16_t at, const uint8_t *bytes, uint8_t len)
{
    uint8_t i;
    uint8_t byte;

    for (i = 0; i < len; i++) {
        ws_eeprom_read(at + i, &byte, 1);
        if (byte != bytes[i]) {
            break;
        }
    }
    return i;
}

uint16_t ws_record_newest(uint16_t first, uint8_t len, uint8_t letter, uint8_t *record)
{
    uint16_t newest = 0;
    uint16_t at = first;

    do {
        uint8_t age[4];
        uint8_t stands = ws_record_stands(at, len, letter);

        ws_eeprom_read(at, age, sizeof age);
        if (stands != WS_RECORD_NONE &&
            (newest == 0 || ws_message_read_32(age) > ws_message_read_32(record))) {
            ws_eeprom_read(at, record, len);
            newest = at;
            if (stands == WS_RECORD_BEGUN) {
                /* The last of three before the same. */
                newest = ws_record_next(first, len, ws_record_next(first, len, at));
            }
        }
        at = ws_record_next(first, len, at);
    } while (at != first);
    return newest;
}

uint16_t ws_record_next(uint16_t first, uint8_t len, uint16_t at)
{
    return at == first + (WS_RECORD_SLOTS - 1) * len ? first : at + len;
}
