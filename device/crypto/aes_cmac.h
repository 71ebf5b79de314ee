/* AES-CMAC, NIST SP 800-38B, with codes of 128 bits; a shorter code is the first bytes of it.
 *
 * Constant time for given lengths and key size. RAM: none. Stack: of ws_aes_cmac the round keys
 * (240 bytes) and the state, beside the frames. */
#ifndef WS_AES_CMAC_H
#define WS_AES_CMAC_H

#include "aes.h"

/* A code that is being computed. The message may come in pieces of any lengths. */
typedef struct {
    const uint8_t *round_keys;
    uint8_t rounds;
    /* Bytes of the last block that are in the state already, 0 to 16; 0 of an empty message
     * alone. */
    uint8_t used;
    /* The last block, added to the chain before it. */
    uint8_t state[16];
} ws_aes_cmac_state;

/* Begins a code.
 *
 * in:  round_keys, rounds: as for ws_aes_encrypt; the round keys stay in use until ws_aes_cmac_end.
 * out: mac. */
void ws_aes_cmac_begin(ws_aes_cmac_state *mac, const uint8_t *round_keys, unsigned rounds);

/* Adds len bytes to the message.
 *
 * in:     in: len bytes, any alignment; anything where len is 0.
 * in/out: mac, not overlapping in. */
void ws_aes_cmac_update(ws_aes_cmac_state *mac, const uint8_t *in, size_t len);

/* Ends a code. Of the state nothing stays in RAM.
 *
 * in/out: mac, which is to be begun anew.
 * out:    code: any alignment, not overlapping mac. */
void ws_aes_cmac_end(ws_aes_cmac_state *mac, uint8_t code[16]);

/* The same in one call, key expansion included.
 *
 * in:  key: 4 key_words bytes; key_words: 4, 6 or 8; in: len bytes. Any alignment.
 * out: code: any alignment, not overlapping key. It may overlap in. */
void ws_aes_cmac(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t code[16]);

#endif
