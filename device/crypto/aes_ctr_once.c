#include "aes_ctr.h"

#include "secret.h"

/* The schedule and the counter, in one place to be wiped at once. The union's other member aligns it. */
typedef union {
    uint8_t bytes[WS_AES256_ROUND_KEYS + 16];
    uint32_t align;
} workspace;

static void ctr_once(const uint8_t *key, unsigned key_words, const uint8_t *iv, const uint8_t *in, uint8_t *out,
                     size_t len)
{
    workspace work;
    uint8_t *counter = work.bytes + WS_AES256_ROUND_KEYS;
    uint8_t i;

    ws_aes_expand(work.bytes, key, key_words);
    for (i = 0; i < 16; i++) {
        counter[i] = iv[i];
    }
    ws_aes_ctr(work.bytes, key_words + 6, counter, in, out, len);
    ws_wipe(&work, sizeof work);
}

void ws_aes128_ctr(const uint8_t key[16], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len)
{
    ctr_once(key, 4, iv, in, out, len);
}

void ws_aes192_ctr(const uint8_t key[24], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len)
{
    ctr_once(key, 6, iv, in, out, len);
}

void ws_aes256_ctr(const uint8_t key[32], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len)
{
    ctr_once(key, 8, iv, in, out, len);
}
