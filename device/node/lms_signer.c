#include "lms_signer.h"

int ws_lms_signer_keygen(ws_counter *counter, ws_lms_key *key, uint8_t public_key[WS_LMS_PUBLIC_KEY])
{
    uint32_t number;

    /* With a record there the counter's loss shows. */
    if (ws_counter_take(counter, &number) != 0) {
        return -1;
    }
    key->first = number + 1;
    return ws_lms_keygen(0, key->height, key->seed, key->identifier, public_key);
}

int ws_lms_signer_begin(ws_counter *counter, const ws_lms_key *key, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                        const uint8_t *message, size_t len, ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD])
{
    /* No leaf of any tree, which is refused below. */
    uint32_t leaf = 0xffffffff;
    uint32_t number;

    if (counter->next >= key->first && (counter->next - key->first) >> key->height == 0 &&
        ws_counter_take(counter, &number) == 0) {
        leaf = number - key->first;
    }
    return ws_lms_sign_begin(signing, 0, key->height, key->seed, key->identifier, leaf, randomizer, message, len, head);
}
