#include "aes_key_wrap.h"

#include "aes.h"
#include "secret.h"

/* Each byte of the initial value, RFC 3394 section 2.2.3.1. */
#define INITIAL 0xa6
#define PASSES 6

typedef struct {
    /* The round keys. */
    union {
        uint8_t bytes[WS_AES256_ROUND_KEYS];
        uint32_t align;
    } round_keys;
    /* The register A, and behind it the part of the key that is with it. */
    uint8_t block[16];
    uint8_t rounds;
} workspace;

/* Expands the key. Returns 0, or -1 when a length is refused. */
static int begin(workspace *work, const uint8_t *key, unsigned key_words, size_t len)
{
    if ((key_words != 4 && key_words != 6 && key_words != 8) || len < 16 || len > WS_AES_KEY_WRAP_MAX || len % 8 != 0) {
        return -1;
    }
    ws_aes_expand(work->round_keys.bytes, key, key_words);
    work->rounds = (uint8_t)(key_words + 6);
    return 0;
}

static void copy_half(uint8_t *to, const uint8_t *from)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        to[i] = from[i];
    }
}

/* Adds the number of the step to A. */
static void add_step(workspace *work, uint16_t step)
{
    work->block[6] ^= (uint8_t)(step >> 8);
    work->block[7] ^= (uint8_t)step;
}

int ws_aes_key_wrap(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t *out)
{
    workspace work;
    uint16_t step = 0;
    uint8_t pass;
    size_t at;

    if (begin(&work, key, key_words, len)) {
        return -1;
    }
    for (at = 0; at < 8; at++) {
        work.block[at] = INITIAL;
    }
    for (at = 0; at < len; at += 8) {
        copy_half(out + 8 + at, in + at);
    }
    for (pass = 0; pass < PASSES; pass++) {
        for (at = 8; at <= len; at += 8) {
            copy_half(work.block + 8, out + at);
            ws_aes_encrypt(work.round_keys.bytes, work.rounds, work.block, work.block);
            add_step(&work, ++step);
            copy_half(out + at, work.block + 8);
        }
    }
    copy_half(out, work.block);
    ws_wipe(&work, sizeof work);
    return 0;
}

int ws_aes_key_unwrap(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t *out)
{
    workspace work;
    uint16_t step = (uint16_t)(len / 8 * PASSES);
    uint8_t pass;
    uint8_t differs = 0;
    size_t at;

    if (begin(&work, key, key_words, len)) {
        return -1;
    }
    ws_aes_prepare_decryption(work.round_keys.bytes, work.rounds);
    copy_half(work.block, in);
    for (at = 0; at < len; at += 8) {
        copy_half(out + at, in + 8 + at);
    }
    for (pass = 0; pass < PASSES; pass++) {
        for (at = len; at != 0;) {
            at -= 8;
            add_step(&work, step--);
            copy_half(work.block + 8, out + at);
            ws_aes_decrypt_prepared(work.round_keys.bytes, work.rounds, work.block, work.block);
            copy_half(out + at, work.block + 8);
        }
    }
    for (at = 0; at < 8; at++) {
        differs |= work.block[at] ^ INITIAL;
    }
    ws_wipe(&work, sizeof work);
    if (differs != 0) {
        ws_wipe(out, len);
        return -1;
    }
    return 0;
}
