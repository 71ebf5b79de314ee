#include "x963_kdf.h"

#include "secret.h"
#include "sha256.h"

void ws_x963_kdf(const uint8_t *z, size_t z_len, const uint8_t *info, size_t info_len, const uint8_t *more,
                 size_t more_len, uint8_t *out, size_t len)
{
    struct {
        ws_sha256_ctx hash;
        uint8_t digest[32];
    } work;
    uint8_t counter[4] = {0, 0, 0, 0};

    while (len != 0) {
        uint8_t n = len < 32 ? (uint8_t)len : 32;
        uint8_t i;

        for (i = 4; i-- != 0;) {
            if (++counter[i] != 0) {
                break;
            }
        }
        ws_sha256_init(&work.hash);
        ws_sha256_update(&work.hash, z, z_len);
        ws_sha256_update(&work.hash, counter, 4);
        ws_sha256_update(&work.hash, info, info_len);
        ws_sha256_update(&work.hash, more, more_len);
        ws_sha256_final(&work.hash, work.digest);
        for (i = 0; i < n; i++) {
            *out++ = work.digest[i];
        }
        len -= n;
    }
    ws_wipe(&work, sizeof work);
}
