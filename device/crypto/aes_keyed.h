/* AES encryption, FIPS 197, that makes its round keys on the way: for the smallest processors, which have no room for
 * all of them. Block and key lie where the processor reaches them best.
 *
 * Constant flow: no branch depends on key or data; tables as in aes.h.
 * RAM: 48 bytes for block and key. They are secrets: ws_aes..._encrypt_block leaves them there, ws_aes..._encrypt_keyed zeros. */
#ifndef WS_AES_KEYED_H
#define WS_AES_KEYED_H

#include "aes.h"
#include "compiler.h"

/* in: the plaintext; out: the ciphertext. */
extern WS_NEAR uint8_t ws_aes_block[16];

/* in: the key, 16, 24 or 32 bytes; out: undefined, as secret as the key. */
extern WS_NEAR uint8_t ws_aes_key[32];

/* Encrypts ws_aes_block under the 128, 192 or 256-bit key in ws_aes_key. Constant time. */
void ws_aes128_encrypt_block(void);
void ws_aes192_encrypt_block(void);
void ws_aes256_encrypt_block(void);

WS_INLINE void ws_aes_keyed_load(const WS_FAR uint8_t *key, uint8_t key_bytes, const WS_FAR uint8_t *in)
{
    uint8_t i;

    for (i = 0; i < key_bytes; i++) {
        ws_aes_key[i] = key[i];
    }
    for (i = 0; i < 16; i++) {
        ws_aes_block[i] = in[i];
    }
}

WS_INLINE void ws_aes_keyed_store(WS_FAR uint8_t *out)
{
    uint8_t i;

    for (i = 0; i < 16; i++) {
        out[i] = ws_aes_block[i];
        ws_aes_block[i] = 0;
    }
    for (i = 0; i < 32; i++) {
        ws_aes_key[i] = 0;
    }
}

/* The same with block and key in other memory (8051: external RAM).
 *
 * in:  key: 16, 24 or 32 bytes; in: any alignment. out: out: any alignment; may be the same as in.
 * Constant time. */
WS_INLINE void ws_aes128_encrypt_keyed(const WS_FAR uint8_t key[16], const WS_FAR uint8_t in[16], WS_FAR uint8_t out[16])
{
    ws_aes_keyed_load(key, 16, in);
    ws_aes128_encrypt_block();
    ws_aes_keyed_store(out);
}

WS_INLINE void ws_aes192_encrypt_keyed(const WS_FAR uint8_t key[24], const WS_FAR uint8_t in[16], WS_FAR uint8_t out[16])
{
    ws_aes_keyed_load(key, 24, in);
    ws_aes192_encrypt_block();
    ws_aes_keyed_store(out);
}

WS_INLINE void ws_aes256_encrypt_keyed(const WS_FAR uint8_t key[32], const WS_FAR uint8_t in[16], WS_FAR uint8_t out[16])
{
    ws_aes_keyed_load(key, 32, in);
    ws_aes256_encrypt_block();
    ws_aes_keyed_store(out);
}

#endif
