#include "lms_bench.h"

/* Bytes of the signature into RAM. */
static void fetch(uint8_t *to, uint16_t place, uint8_t count)
{
    uint8_t i;

    for (i = 0; i < count; i++) {
        to[i] = ws_table_u8(&ws_bench_stored[place + i]);
    }
}

int ws_lms_verify_all(const uint8_t public_key[WS_LMS_PUBLIC_KEY], const uint8_t *message, size_t len)
{
    ws_lms_verification verification;
    uint8_t piece[WS_LMS_HEAD];
    uint16_t place;

    fetch(piece, 0, WS_LMS_HEAD);
    (void)ws_lms_verify_begin(&verification, public_key, piece);
    ws_lms_verify_message(&verification, message, len);
    for (place = WS_LMS_HEAD; place < WS_BENCH_STORED; place += 32) {
        const uint8_t count = WS_BENCH_STORED - place < 32 ? (uint8_t)(WS_BENCH_STORED - place) : 32;

        fetch(piece, place, count);
        ws_lms_verify_signature(&verification, piece, count);
    }
    return ws_lms_verify_end(&verification, public_key);
}
