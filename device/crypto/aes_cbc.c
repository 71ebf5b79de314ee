#include "aes_cbc.h"

#include "secret.h"

void ws_aes_cbc_encrypt(const uint8_t *round_keys, unsigned rounds, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t blocks)
{
    uint8_t i;

    for (; blocks != 0; blocks--) {
        for (i = 0; i < 16; i++) {
            iv[i] ^= in[i];
        }
        ws_aes_encrypt(round_keys, rounds, iv, iv);
        for (i = 0; i < 16; i++) {
            out[i] = iv[i];
        }
        in += 16;
        out += 16;
    }
}

void ws_aes_cbc_decrypt(const uint8_t *round_keys, unsigned rounds, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t blocks)
{
    uint8_t plain[16];
    uint8_t i;

    for (; blocks != 0; blocks--) {
        ws_aes_decrypt(round_keys, rounds, in, plain);
        for (i = 0; i < 16; i++) {
            uint8_t cipher = in[i];

            out[i] = plain[i] ^ iv[i];
            iv[i] = cipher;
        }
        in += 16;
        out += 16;
    }
    ws_wipe(plain, sizeof plain);
}
