#include "hkdf.h"

#include "hmac.h"
#include "secret.h"

int ws_hkdf_sha256(const uint8_t *salt, size_t salt_len, const uint8_t *ikm, size_t ikm_len, const uint8_t *info,
                   size_t info_len, uint8_t *out, size_t len)
{
    struct {
        ws_hmac_sha256_ctx mac;
        /* PRK, and T(counter). */
        uint8_t key[32];
        uint8_t block[32];
    } work;
    uint8_t counter = 0;

    if (len > 255 * 32) {
        ws_wipe(out, len);
        return -1;
    }
    ws_hmac_sha256(salt, salt_len, ikm, ikm_len, work.key);
    while (len != 0) {
        uint8_t n = len < 32 ? (uint8_t)len : 32;
        uint8_t i;

        ws_hmac_sha256_init(&work.mac, work.key, 32);
        if (counter != 0) {
            ws_hmac_sha256_update(&work.mac, work.block, 32);
        }
        counter++;
        ws_hmac_sha256_update(&work.mac, info, info_len);
        ws_hmac_sha256_update(&work.mac, &counter, 1);
        ws_hmac_sha256_final(&work.mac, work.block);
        for (i = 0; i < n; i++) {
            *out++ = work.block[i];
        }
        len -= n;
    }
    ws_wipe(&work, sizeof work);
    return 0;
}
