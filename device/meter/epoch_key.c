#include "epoch_key.h"

#include "message.h"
#include "record.h"

#include "../crypto/secret.h"
#include "../drivers/eeprom.h"
#include "../drivers/provision.h"

#include <stddef.h>

#define LETTER 'K'
/* Offsets in what is provisioned. */
#define OWN_PUBLIC_KEY 22
#define KEY_256 48
/* Bytes that are written over at once. */
#define PIECE 13

/* All before it is bytes: the structure begins with the record. */
typedef char ws_epoch_key_begins_with_the_record[offsetof(ws_epoch_key, at) == WS_EPOCH_KEY_RECORD ? 1 : -1];

/* Whether the slot has a byte that is not 0; then 0 is written over all of it. Returns 0; -1 where the memory does not keep that. */
static int erase(uint16_t at)
{
    static const uint8_t zeros[PIECE] = {0};
    uint8_t offset;
    int result = 0;

    for (offset = 0; offset < WS_EPOCH_KEY_RECORD; offset += PIECE) {
        if (ws_record_same(at + offset, zeros, PIECE) != PIECE) {
            ws_eeprom_write(at + offset, zeros, PIECE);
            if (ws_record_same(at + offset, zeros, PIECE) != PIECE) {
                result = -1;
            }
        }
    }
    return result;
}

/* Writes the key as the newest, and then erases the others. */
static int keep(ws_epoch_key *key)
{
    uint8_t *record = (uint8_t *)key;
    uint16_t at = ws_record_next(WS_EPOCH_KEY_AT, WS_EPOCH_KEY_RECORD, key->at);

    key->at = at;
    ws_message_write_32(key->generation, ws_message_read_32(key->generation) + 1);
    ws_record_seal(record, WS_EPOCH_KEY_RECORD, LETTER);
    ws_eeprom_write(at, record, WS_EPOCH_KEY_RECORD);
    if (ws_record_same(at, record, WS_EPOCH_KEY_RECORD) != WS_EPOCH_KEY_RECORD) {
        return -1;
    }
    at = ws_record_next(WS_EPOCH_KEY_AT, WS_EPOCH_KEY_RECORD, at);
    if (erase(at) != 0) {
        return -1;
    }
    return erase(ws_record_next(WS_EPOCH_KEY_AT, WS_EPOCH_KEY_RECORD, at));
}

int ws_epoch_key_start(ws_epoch_key *key)
{
    uint8_t owner[4];
    uint8_t i;

    for (i = 0; i < WS_EPOCH_KEY_RECORD; i++) {
        ((uint8_t *)key)[i] = 0;
    }
    ws_provision_read(OWN_PUBLIC_KEY, owner, sizeof owner);
    key->at = ws_record_newest(WS_EPOCH_KEY_AT, WS_EPOCH_KEY_RECORD, LETTER, (uint8_t *)key);
    if (key->at != 0 && ws_equal(key->owner, owner, sizeof owner)) {
        return keep(key);
    }
    /* Epoch 0. A record of another provisioning stays, until the next key is taken, behind whose generation it is then. */
    if (key->at == 0) {
        key->at = WS_EPOCH_KEY_AT;
    }
    ws_message_copy(key->owner, owner, sizeof owner);
    ws_message_write_32(key->epoch, 0);
    ws_message_write_32(key->first, 0);
    ws_provision_read(KEY_256, key->key, sizeof key->key);
    return 0;
}

int ws_epoch_key_take(ws_epoch_key *key, const uint8_t next[32], uint32_t first)
{
    ws_message_write_32(key->epoch, ws_message_read_32(key->epoch) + 1);
    ws_message_write_32(key->first, first);
    ws_message_copy(key->key, next, sizeof key->key);
    return keep(key);
}
