#include "chacha20_poly1305.h"

#include "chacha20.h"
#include "little_endian.h"
#include "poly1305.h"
#include "secret.h"

static void authenticate(const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len, const uint8_t *in,
                         size_t len, uint8_t *tag)
{
    ws_poly1305_ctx ctx;
    uint8_t *once = (uint8_t *)&ctx;
    uint8_t lengths[16];

    /* Section 2.6: the key is of block 0. It is made where the authenticator has it. */
    ws_wipe(once, 32);
    ws_chacha20(key, nonce, 0, once, once, 32);
    ws_poly1305_init(&ctx, once);

    ws_poly1305_absorb(&ctx, aad, aad_len);
    ws_poly1305_fill(&ctx);
    ws_poly1305_absorb(&ctx, in, len);
    ws_poly1305_fill(&ctx);
    /* Both lengths, each as 8 bytes. */
    ws_store32_le(lengths, (uint32_t)aad_len);
    ws_store32_le(lengths + 4, (uint32_t)((uint64_t)aad_len >> 32));
    ws_store32_le(lengths + 8, (uint32_t)len);
    ws_store32_le(lengths + 12, (uint32_t)((uint64_t)len >> 32));
    ws_poly1305_absorb(&ctx, lengths, 16);
    ws_poly1305_finish(&ctx, tag);
}

/* Whether there are blocks for so many bytes: 2^32 - 1 of them are left. */
static int fits(size_t len)
{
#if SIZE_MAX > 0xffffffff
    return len <= 0x3fffffffc0u;
#else
    (void)len;
    return 1;
#endif
}

int ws_chacha20_poly1305_seal(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                              const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16])
{
    if (!fits(len)) {
        return -1;
    }
    ws_chacha20(key, nonce, 1, in, out, len);
    authenticate(key, nonce, aad, aad_len, out, len, tag);
    return 0;
}

int ws_chacha20_poly1305_open(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                              const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out)
{
    uint8_t expected[16];
    int refused = -1;

    if (!fits(len)) {
        return -1;
    }
    authenticate(key, nonce, aad, aad_len, in, len, expected);
    if (ws_equal(expected, tag, 16)) {
        refused = 0;
        ws_chacha20(key, nonce, 1, in, out, len);
    }
    ws_wipe(expected, sizeof expected);
    return refused;
}
