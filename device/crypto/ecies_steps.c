#include "ecies_steps.h"

#include "aes_ctr.h"
#include "aes_sliced.h"
#include "p256.h"

int ws_ecies_offer(ws_ecies_work *work, ws_drbg *random, const uint8_t recipient[64], uint8_t ephemeral_bytes,
                   uint8_t *ephemeral)
{
    if (ws_p256_keygen(random, work->offered.private_key, work->offered.public_key) != 0) {
        return -1;
    }
    if (ephemeral_bytes == WS_ECIES_EPHEMERAL_COMPRESSED) {
        ws_p256_compress(work->offered.public_key, ephemeral);
    } else {
        uint8_t i;

        for (i = 0; i < 64; i++) {
            ephemeral[i] = work->offered.public_key[i];
        }
    }
    return ws_p256_ecdh(work->offered.private_key, recipient, work->shared);
}

void ws_ecies_crypt(const uint8_t key[16], const uint8_t *in, uint8_t *out, size_t len)
{
    uint8_t counter[16];
    uint8_t i;

    for (i = 0; i < 16; i++) {
        counter[i] = 0;
    }
#if WS_SMALL
    ws_aes128_ctr(key, counter, in, out, len);
#else
    ws_aes128_ctr_sliced(key, counter, in, out, len);
#endif
}
