#include "aes_cmac.h"

#include "secret.h"

void ws_aes_cmac_begin(ws_aes_cmac_state *mac, const uint8_t *round_keys, unsigned rounds)
{
    uint8_t i;

    mac->round_keys = round_keys;
    mac->rounds = (uint8_t)rounds;
    mac->used = 0;
    for (i = 0; i < 16; i++) {
        mac->state[i] = 0;
    }
}

void ws_aes_cmac_update(ws_aes_cmac_state *mac, const uint8_t *in, size_t len)
{
    while (len != 0) {
        uint8_t room;
        uint8_t *to;

        /* The last block waits for its subkey: a full one is encrypted once more is known to
         * come. */
        if (mac->used == 16) {
            ws_aes_encrypt(mac->round_keys, mac->rounds, mac->state, mac->state);
            mac->used = 0;
        }
        room = 16 - mac->used;
        if (len < room) {
            room = (uint8_t)len;
        }
        len -= room;
        to = mac->state + mac->used;
        mac->used += room;
        do {
            *to++ ^= *in++;
        } while (--room != 0);
    }
}

/* Doubles a block in GF(2^128), SP 800-38B section 6.1. */
static void double_block(uint8_t block[16])
{
    uint8_t carry = 0;
    uint8_t i;

    for (i = 16; i-- != 0;) {
        uint8_t next = block[i] >> 7;

        block[i] = (uint8_t)(block[i] << 1 | carry);
        carry = next;
    }
    block[15] ^= 0x87 & (uint8_t)(0 - ws_secret_bit(carry));
}

void ws_aes_cmac_end(ws_aes_cmac_state *mac, uint8_t code[16])
{
    uint8_t i;

    for (i = 0; i < 16; i++) {
        code[i] = 0;
    }
    ws_aes_encrypt(mac->round_keys, mac->rounds, code, code);
    double_block(code);
    if (mac->used != 16) {
        mac->state[mac->used] ^= 0x80;
        double_block(code);
    }
    for (i = 0; i < 16; i++) {
        mac->state[i] ^= code[i];
    }
    ws_aes_encrypt(mac->round_keys, mac->rounds, mac->state, code);
    ws_wipe(mac->state, sizeof mac->state);
}

void ws_aes_cmac(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t code[16])
{
    union {
        uint8_t bytes[WS_AES256_ROUND_KEYS];
        uint32_t align;
    } round_keys;
    ws_aes_cmac_state mac;

    ws_aes_expand(round_keys.bytes, key, key_words);
    ws_aes_cmac_begin(&mac, round_keys.bytes, key_words + 6);
    ws_aes_cmac_update(&mac, in, len);
    ws_aes_cmac_end(&mac, code);
    ws_wipe(&round_keys, sizeof round_keys);
}
