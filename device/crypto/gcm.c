#include "gcm.h"

#include "aes_ctr.h"
#include "compiler.h"
#include "ghash.h"
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
} message;

/* Absorbs len bytes, zero-padded to whole blocks; scratch is overwritten. */
static void absorb(uint8_t y[16], const uint8_t h[16], uint8_t scratch[16], const uint8_t *data, size_t len)
{
    size_t blocks = len / 16;
    uint8_t rest = (uint8_t)len & 15;
    uint8_t i;

    if (blocks != 0) {
        ws_ghash_blocks(y, h, data, blocks);
    }
    if (rest != 0) {
        data += 16 * blocks;
        for (i = 0; i < 16; i++) {
            scratch[i] = i < rest ? data[i] : 0;
        }
        ws_ghash_blocks(y, h, scratch, 1);
    }
}

/* Writes 8 len as 64 bits, big-endian. */
static void put_bits(uint8_t out[8], size_t len)
{
    uint8_t i;

    out[7] = (uint8_t)(len << 3);
    len >>= 5;
    for (i = 7; i-- != 0;) {
        out[i] = (uint8_t)len;
        len >>= 8;
    }
}

/* Sets the counter block to J0 + count for a 96-bit nonce, SP 800-38D section 7.1 step 2. */
static void set_counter(uint8_t counter[16], const uint8_t *nonce, uint8_t count)
{
    uint8_t i;

    for (i = 0; i < 12; i++) {
        counter[i] = nonce[i];
    }
    counter[12] = 0;
    counter[13] = 0;
    counter[14] = 0;
    counter[15] = (uint8_t)(1 + count);
}

/* Seals or opens with expanded round keys. Returns 0 or -1. */
WS_NOINLINE static int crypt(const message *m, uint8_t *round_keys, unsigned rounds)
{
    struct {
        uint8_t h[16];
        uint8_t y[16];
        uint8_t block[16];
    } work;
    int refused = 0;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        work.block[i] = 0;
        work.y[i] = 0;
    }
    ws_aes_encrypt(round_keys, rounds, work.block, work.h);
    absorb(work.y, work.h, work.block, m->aad, m->aad_len);

    /* The 128-bit increment of ws_aes_ctr equals inc32 of section 6.2: the low 32 bits begin at 2 and do not wrap within
     * the length limit. */
    if (!m->expected) {
        set_counter(work.block, m->nonce, 1);
        ws_aes_ctr(round_keys, rounds, work.block, m->in, m->out, m->len);
    }
    absorb(work.y, work.h, work.block, m->expected ? m->in : m->out, m->len);
    put_bits(work.block, m->aad_len);
    put_bits(work.block + 8, m->len);
    ws_ghash_blocks(work.y, work.h, work.block, 1);

    set_counter(work.block, m->nonce, 0);
    ws_aes_encrypt(round_keys, rounds, work.block, work.block);
    for (i = 0; i < 16; i++) {
        work.y[i] ^= work.block[i];
    }
    if (!m->expected) {
        for (i = 0; i < 16; i++) {
            m->tag[i] = work.y[i];
        }
    } else if (ws_equal(work.y, m->expected, 16)) {
        set_counter(work.block, m->nonce, 1);
        ws_aes_ctr(round_keys, rounds, work.block, m->in, m->out, m->len);
    } else {
        refused = -1;
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

/* Round keys for a key of `words` words in `size` bytes, and what is done with them. */
#define CRYPT_WITH(size, words)                                                                                    \
    {                                                                                                              \
        union {                                                                                                    \
            uint8_t bytes[size];                                                                                   \
            uint32_t align;                                                                                        \
        } round_keys;                                                                                              \
        int refused;                                                                                               \
                                                                                                                   \
        ws_aes_expand(round_keys.bytes, m->key, words);                                                            \
        refused = crypt(m, round_keys.bytes, words + 6);                                                           \
        ws_wipe(&round_keys, sizeof round_keys);                                                                   \
        return refused;                                                                                            \
    }

#if WS_FIXED_FRAMES || WS_SMALL

/* One frame for all: there all the time, where frames are fixed; else the least code. */
WS_NOINLINE static int crypt_any(const message *m, unsigned key_words)
CRYPT_WITH(WS_AES256_ROUND_KEYS, key_words)

#else

/* The stack is the scarce thing: a schedule as long as the key needs, its own frame for each key size, and behind it
 * the same code for all. */
WS_NOINLINE static int crypt_128(const message *m)
CRYPT_WITH(WS_AES128_ROUND_KEYS, 4)

WS_NOINLINE static int crypt_192(const message *m)
CRYPT_WITH(WS_AES192_ROUND_KEYS, 6)

WS_NOINLINE static int crypt_256(const message *m)
CRYPT_WITH(WS_AES256_ROUND_KEYS, 8)

#endif

static int dispatch(const message *m, unsigned key_words)
{
#if SIZE_MAX > 0xffffffff
    if (m->len > 0xfffffffe0 || m->aad_len > 0x1fffffffffffffff) {
        return -1;
    }
#endif
    switch (key_words) {
#if WS_FIXED_FRAMES || WS_SMALL
    case 4:
    case 6:
    case 8:
        return crypt_any(m, key_words);
#else
    case 4:
        return crypt_128(m);
    case 6:
        return crypt_192(m);
    case 8:
        return crypt_256(m);
#endif
    default:
        return -1;
    }
}

int ws_aes_gcm_seal(const uint8_t *key, unsigned key_words, const uint8_t nonce[12], const uint8_t *aad,
                    size_t aad_len, const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16])
{
    message m = {key, nonce, aad, aad_len, in, len, out, tag, 0};

    return dispatch(&m, key_words);
}

int ws_aes_gcm_open(const uint8_t *key, unsigned key_words, const uint8_t nonce[12], const uint8_t *aad,
                    size_t aad_len, const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out)
{
    message m = {key, nonce, aad, aad_len, in, len, out, 0, tag};

    return dispatch(&m, key_words);
}
