#include "hss.h"

/* What of a signature is read at once. */
#define PIECE 32

/* Takes what is left of a level's signature, up to `end`. */
static void take_signature(ws_hss_verification *verification, uint32_t end)
{
    uint8_t piece[PIECE];

    while (verification->place != end) {
        const uint8_t count = end - verification->place < PIECE ? (uint8_t)(end - verification->place) : PIECE;

        ws_hss_read_signature(verification->place, piece, count);
        ws_lms_verify_signature(&verification->lms, piece, count);
        verification->place += count;
    }
}

/* Begins the signature at the place, of the level that has been reached. Returns where it ends, or 0 where it is refused or so many bytes are not
 * there. */
static uint32_t begin_level(ws_hss_verification *verification)
{
    const uint16_t bytes = ws_lms_signature_bytes(verification->public_key);
    const uint32_t place = verification->place;
    uint8_t head[WS_LMS_HEAD];

    if (bytes == 0 || verification->len - place < bytes) {
        return 0;
    }
    ws_hss_read_signature(place, head, WS_LMS_HEAD);
    verification->place = place + WS_LMS_HEAD;
    return ws_lms_verify_begin(&verification->lms, verification->public_key, head) == 0 ? place + bytes : 0;
}

/* The level that has been reached gets its key. */
static void take_key(ws_hss_verification *verification, const uint8_t *public_key)
{
    uint8_t i;

    for (i = 0; i < WS_LMS_PUBLIC_KEY; i++) {
        verification->public_key[i] = public_key[i];
    }
}

/* A level that signs the next one's key. Returns whether it does. */
static uint8_t take_level(ws_hss_verification *verification)
{
    const uint32_t end = begin_level(verification);

    if (end == 0 || verification->len - end < WS_LMS_PUBLIC_KEY) {
        return 0;
    }
    ws_hss_read_signature(end, verification->next_key, WS_LMS_PUBLIC_KEY);
    ws_lms_verify_message(&verification->lms, verification->next_key, WS_LMS_PUBLIC_KEY);
    take_signature(verification, end);
    if (ws_lms_verify_end(&verification->lms, verification->public_key) != 0) {
        return 0;
    }
    take_key(verification, verification->next_key);
    verification->place = end + WS_LMS_PUBLIC_KEY;
    return 1;
}

int ws_hss_verify_begin(ws_hss_verification *verification, const uint8_t public_key[WS_HSS_PUBLIC_KEY], uint32_t len)
{
    uint8_t signed_keys[4];
    uint8_t levels = public_key[3];

    verification->is_refused = 1;
    verification->len = len;
    if ((public_key[0] | public_key[1] | public_key[2]) != 0 || levels == 0 || levels > WS_HSS_LEVELS || len < 4) {
        return -1;
    }
    ws_hss_read_signature(0, signed_keys, 4);
    if ((signed_keys[0] | signed_keys[1] | signed_keys[2]) != 0 || signed_keys[3] != levels - 1) {
        return -1;
    }
    take_key(verification, public_key + 4);
    verification->place = 4;
    for (; levels != 1; levels--) {
        if (!take_level(verification)) {
            return -1;
        }
    }
    if (begin_level(verification) != len) {
        return -1;
    }
    verification->is_refused = 0;
    return 0;
}

void ws_hss_verify_message(ws_hss_verification *verification, const uint8_t *bytes, size_t len)
{
    if (!verification->is_refused) {
        ws_lms_verify_message(&verification->lms, bytes, len);
    }
}

int ws_hss_verify_end(ws_hss_verification *verification)
{
    if (verification->is_refused) {
        return -1;
    }
    verification->is_refused = 1;
    take_signature(verification, verification->len);
    return ws_lms_verify_end(&verification->lms, verification->public_key);
}
