#include "aes_ccm.h"

#include "aes_cmac.h"
#include "aes_ctr.h"
#include "secret.h"

typedef struct {
    const uint8_t *key;
    const uint8_t *nonce;
    const uint8_t *aad;
    size_t aad_len;
    const uint8_t *in;
    size_t len;
    uint8_t *out;
    /* The tag to write when sealing. */
    uint8_t *tag;
    /* The tag to compare with when opening, else 0. */
    const uint8_t *expected;
    uint8_t key_words;
    uint8_t nonce_len;
    uint8_t tag_len;
} message;

/* Writes the first block of a counter or of the code: flags, nonce, and `number` in the bytes
 * behind it. */
static void set_block(uint8_t block[16], const message *m, uint8_t flags, size_t number)
{
    uint8_t i;

    block[0] = (uint8_t)(flags | (14 - m->nonce_len));
    for (i = 0; i < m->nonce_len; i++) {
        block[1 + i] = m->nonce[i];
    }
    for (i = 15; i > m->nonce_len; i--) {
        block[i] = (uint8_t)number;
        number >>= 8;
    }
}

/* Begins the code, with the first block and the associated data (appendix A.2.1 and A.2.2). A code
 * of CCM is a chain of blocks as that of CMAC, of blocks that zeros fill: nothing is added to the
 * state for those. */
static void begin_code(ws_aes_cmac_state *code, const message *m, uint8_t block[16])
{
    uint8_t at = 0;

    set_block(block, m, (uint8_t)((m->aad_len != 0 ? 64 : 0) | (m->tag_len - 2) << 2), m->len);
    ws_aes_cmac_update(code, block, 16);
    if (m->aad_len == 0) {
        return;
    }
#if SIZE_MAX > 0xffff
    if (m->aad_len >= 0xff00) {
        block[0] = 0xff;
        block[1] = 0xfe;
        block[2] = (uint8_t)(m->aad_len >> 24);
        block[3] = (uint8_t)(m->aad_len >> 16);
        at = 4;
    }
#endif
    block[at] = (uint8_t)(m->aad_len >> 8);
    block[at + 1] = (uint8_t)m->aad_len;
    ws_aes_cmac_update(code, block, at + 2);
    ws_aes_cmac_update(code, m->aad, m->aad_len);
    code->used = 16;
}

/* Seals or opens with expanded round keys. Returns 0 or -1. */
WS_NOINLINE static int crypt(const message *m, const uint8_t *round_keys, unsigned rounds)
{
    struct {
        ws_aes_cmac_state code;
        uint8_t counter[16];
        uint8_t block[16];
    } work;
    int refused = 0;
    size_t at;
    uint8_t i;

    ws_aes_cmac_begin(&work.code, round_keys, rounds);
    begin_code(&work.code, m, work.block);
    set_block(work.counter, m, 0, 1);
    if (!m->expected) {
        ws_aes_cmac_update(&work.code, m->in, m->len);
    } else {
        for (at = 0; at < m->len; at += 16) {
            uint8_t n = m->len - at < 16 ? (uint8_t)(m->len - at) : 16;

            ws_aes_ctr(round_keys, rounds, work.counter, m->in + at, work.block, n);
            ws_aes_cmac_update(&work.code, work.block, n);
        }
    }
    ws_aes_encrypt(round_keys, rounds, work.code.state, work.code.state);
    set_block(work.block, m, 0, 0);
    ws_aes_encrypt(round_keys, rounds, work.block, work.block);
    for (i = 0; i < 16; i++) {
        work.block[i] ^= work.code.state[i];
    }
    if (m->expected && !ws_equal(work.block, m->expected, m->tag_len)) {
        refused = -1;
    } else {
        set_block(work.counter, m, 0, 1);
        ws_aes_ctr(round_keys, rounds, work.counter, m->in, m->out, m->len);
        for (i = 0; !m->expected && i < m->tag_len; i++) {
            m->tag[i] = work.block[i];
        }
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

/* Returns 0 where the lengths are none that CCM has. */
static uint8_t is_possible(const message *m)
{
    if (m->key_words < 4 || m->key_words > 8 || m->key_words % 2 != 0 || m->nonce_len < 7 || m->nonce_len > 13 ||
        m->tag_len < 4 || m->tag_len > 16 || m->tag_len % 2 != 0) {
        return 0;
    }
#if SIZE_MAX > 0xffffffff
    if (m->aad_len > 0xffffffff) {
        return 0;
    }
#endif
#if SIZE_MAX > 0xffff
    if (m->nonce_len > 15 - sizeof(size_t) && m->len >> (8 * (15 - m->nonce_len)) != 0) {
        return 0;
    }
#endif
    return 1;
}

/* Expands the key for one message. Returns 0 or -1. */
static int crypt_once(const message *m)
{
    union {
        uint8_t bytes[WS_AES256_ROUND_KEYS];
        uint32_t align;
    } round_keys;
    int refused;

    if (!is_possible(m)) {
        return -1;
    }
    ws_aes_expand(round_keys.bytes, m->key, m->key_words);
    refused = crypt(m, round_keys.bytes, m->key_words + 6);
    ws_wipe(&round_keys, sizeof round_keys);
    return refused;
}

/* A length as a byte; 0, which is none, where it is longer. */
static uint8_t short_length(unsigned len)
{
    return len > 16 ? 0 : (uint8_t)len;
}

int ws_aes_ccm_seal(const uint8_t *key, unsigned key_words, const uint8_t *nonce, unsigned nonce_len,
                    const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t len, uint8_t *out, uint8_t *tag,
                    unsigned tag_len)
{
    message m = {key, nonce, aad, aad_len, in, len, out, tag, 0, 0, 0, 0};

    m.key_words = short_length(key_words);
    m.nonce_len = short_length(nonce_len);
    m.tag_len = short_length(tag_len);
    return crypt_once(&m);
}

int ws_aes_ccm_open(const uint8_t *key, unsigned key_words, const uint8_t *nonce, unsigned nonce_len,
                    const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t len, const uint8_t *tag,
                    unsigned tag_len, uint8_t *out)
{
    message m = {key, nonce, aad, aad_len, in, len, out, 0, tag, 0, 0, 0};

    m.key_words = short_length(key_words);
    m.nonce_len = short_length(nonce_len);
    m.tag_len = short_length(tag_len);
    return crypt_once(&m);
}
