#include "hmac.h"

#include "secret.h"
#include "sha256.h"

void ws_hmac_sha256(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len, uint8_t mac[32])
{
    struct {
        ws_sha256_ctx hash;
        /* The key, padded to a block and masked; FIPS 198-1 section 4. */
        uint8_t pad[64];
        uint8_t inner[32];
    } work;
    uint8_t used = 0;
    uint8_t i;

    if (key_len > 64) {
        ws_sha256(key, key_len, work.pad);
        used = 32;
    } else {
        for (; used < key_len; used++) {
            work.pad[used] = key[used];
        }
    }
    while (used < 64) {
        work.pad[used++] = 0;
    }

    for (i = 0; i < 64; i++) {
        work.pad[i] ^= 0x36;
    }
    ws_sha256_init(&work.hash);
    ws_sha256_update(&work.hash, work.pad, 64);
    ws_sha256_update(&work.hash, in, len);
    ws_sha256_final(&work.hash, work.inner);

    for (i = 0; i < 64; i++) {
        work.pad[i] ^= 0x36 ^ 0x5c;
    }
    ws_sha256_init(&work.hash);
    ws_sha256_update(&work.hash, work.pad, 64);
    ws_sha256_update(&work.hash, work.inner, 32);
    ws_sha256_final(&work.hash, mac);
    ws_wipe(&work, sizeof work);
}
