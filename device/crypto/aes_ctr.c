#include "aes_ctr.h"

#include "secret.h"

void ws_aes_ctr(const uint8_t *round_keys, unsigned rounds, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                size_t len)
{
    uint8_t stream[16];

    while (len != 0) {
        uint8_t n = len < 16 ? (uint8_t)len : 16;
        uint8_t i;

        ws_aes_encrypt(round_keys, rounds, counter, stream);
        for (i = 0; i < n; i++) {
            out[i] = in[i] ^ stream[i];
        }
        in += n;
        out += n;
        len -= n;
        for (i = 16; i-- != 0;) {
            if (++counter[i] != 0) {
                break;
            }
        }
    }
    ws_wipe(stream, sizeof stream);
}
