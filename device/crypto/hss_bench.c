#include "hss_bench.h"

void ws_hss_read_signature(uint32_t place, uint8_t *to, uint8_t count)
{
    uint8_t i;

    for (i = 0; i < count; i++) {
        to[i] = ws_table_u8(&ws_bench_stored[(uint16_t)place + i]);
    }
}

int ws_hss_verify_all(const uint8_t public_key[WS_HSS_PUBLIC_KEY], const uint8_t *message, size_t len)
{
    ws_hss_verification verification;

    (void)ws_hss_verify_begin(&verification, public_key, WS_BENCH_STORED);
    ws_hss_verify_message(&verification, message, len);
    return ws_hss_verify_end(&verification);
}
