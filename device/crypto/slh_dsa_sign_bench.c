#include "slh_dsa_sign_bench.h"

int ws_slh_dsa_sign_all(uint8_t set, const uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY], const uint8_t *context, size_t context_len,
                        const uint8_t *message, size_t len, uint8_t folded[WS_SLH_DSA_VALUE])
{
    ws_slh_dsa_signing signing;
    uint8_t piece[WS_SLH_DSA_VALUE];
    uint16_t i = 0;
    uint8_t j;

    for (j = 0; j < WS_SLH_DSA_VALUE; j++) {
        folded[j] = 0;
    }
    if (ws_slh_dsa_sign_begin(&signing, set, private_key, private_key + 32, context, context_len, message, len, piece) != 0) {
        return -1;
    }
    do {
        for (j = 0; j < WS_SLH_DSA_VALUE; j++) {
            folded[j] = (uint8_t)(3 * folded[j] + (piece[j] ^ (uint8_t)((j & 1) != 0 ? i >> 2 : i)));
        }
        i++;
    } while (ws_slh_dsa_sign_next(&signing, piece) == 0);
    return 0;
}
