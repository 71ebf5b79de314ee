/* The key of suite 6, which is renewed: that of the present epoch, in EEPROM, with the number of the epoch (docs/reference/protocol.md, "Renewal of the key").
 * What is assumed of the EEPROM: numbers.h.
 *
 * Epoch 0 has no record: its key is key256 of what is provisioned. As with settings there are three slots, the valid record with the latest
 * generation counts, and each start writes the one it found once more. A key that was taken is firm before anything is sealed with it; then
 * the slots of the keys before it are written over with zeros, and again after a start that the power's loss has come before. So the memory
 * has the old key or the new one after every byte write, and after that start the new one alone.
 *
 * A record names the meter that it is of, by its public key: what a provisioning with other keys has left in the memory counts as none. */
#ifndef WS_METER_EPOCH_KEY_H
#define WS_METER_EPOCH_KEY_H

#include <stdint.h>

#define WS_EPOCH_KEY_AT 1024
#define WS_EPOCH_KEY_RECORD 52

/* The record, as it is in EEPROM, and where: numbers big-endian. generation, owner, check and at are the implementation's. */
typedef struct {
    uint8_t generation[4];
    /* The first bytes of the meter's public key. */
    uint8_t owner[4];
    uint8_t epoch[4];
    /* The first n of the epoch: a report of suite 6 with a lower one was sealed with a key that is no more. */
    uint8_t first[4];
    uint8_t key[32];
    uint8_t check[4];
    uint16_t at;
} ws_epoch_key;

/* Finds the key, and makes it firm; waits for up to 156 byte writes, none in epoch 0.
 *
 * out: key. Returns 0; -1 where the memory does not keep what is written: nothing of suite 6 is to be sealed or opened then. */
int ws_epoch_key_start(ws_epoch_key *key);

/* Begins the next epoch, and waits until that stands and the keys before it are erased: 156 byte writes, after what is being written in the
 * background.
 *
 * in:     next: 32 bytes, outside key. first: above every n before.
 * in/out: key, started: the next epoch's.
 * Returns 0; -1 where the memory does not keep what is written: then the old key or the new one counts at the next start, and neither
 * until then. */
int ws_epoch_key_take(ws_epoch_key *key, const uint8_t next[32], uint32_t first);

#endif
