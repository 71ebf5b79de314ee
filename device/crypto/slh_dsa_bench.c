#include "slh_dsa_bench.h"

int ws_slh_dsa_verify_all(uint8_t set, uint16_t signature_len, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY], const uint8_t *context,
                          size_t context_len, const uint8_t *message, size_t len)
{
    ws_slh_dsa_verification verification;
    uint8_t piece[WS_SLH_DSA_VALUE];
    uint16_t place;
    uint8_t i;

    for (place = 0; place < signature_len; place += WS_SLH_DSA_VALUE) {
        for (i = 0; i < WS_SLH_DSA_VALUE; i++) {
            piece[i] = ws_table_u8(&ws_bench_stored[place + i]);
        }
        if (place == 0) {
            (void)ws_slh_dsa_verify_begin(&verification, set, public_key, piece, context, context_len);
            ws_slh_dsa_verify_message(&verification, message, len);
        } else {
            ws_slh_dsa_verify_signature(&verification, piece, WS_SLH_DSA_VALUE);
        }
    }
    return ws_slh_dsa_verify_end(&verification, public_key);
}
