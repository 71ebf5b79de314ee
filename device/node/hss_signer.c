#include "hss_signer.h"

#include "../crypto/secret.h"

/* Places at which a lower tree's seed and identifier are made. */
#define CHILD_SEED 0xfffe
#define CHILD_IDENTIFIER 0xffff

/* No leaf of any tree, which ws_lms_sign_begin refuses. */
#define NO_LEAF 0xffffffff

/* Numbers of an upper leaf: its own and those of its tree's leaves. */
static uint32_t span(const ws_hss_key *key)
{
    return 1 + ((uint32_t)1 << key->lower_height);
}

/* The tree that an upper leaf's nodes are kept as. */
static uint8_t lower_tree(uint32_t upper_leaf)
{
    return (uint8_t)(1 + (upper_leaf & 1));
}

/* What of a lower tree is secret, and its name. */
typedef struct {
    uint8_t seed[32];
    uint8_t identifier[16];
} lower;

static void make_lower(const ws_hss_key *key, uint32_t upper_leaf, lower *tree)
{
    uint8_t name[WS_ONE_TIME_NAME];
    ws_sha256_ctx hash;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        name[i] = key->identifier[i];
    }
    name[16] = 0;
    name[17] = 0;
    name[18] = (uint8_t)(upper_leaf >> 8);
    name[19] = (uint8_t)upper_leaf;
    ws_one_time_secret(&hash, name, CHILD_SEED, key->seed);
    for (i = 0; i < 32; i++) {
        tree->seed[i] = hash.block[WS_ONE_TIME_VALUE + i];
    }
    ws_one_time_secret(&hash, name, CHILD_IDENTIFIER, key->seed);
    for (i = 0; i < 16; i++) {
        tree->identifier[i] = hash.block[WS_ONE_TIME_VALUE + i];
    }
    ws_wipe(&hash, sizeof hash);
}

/* Takes the counter's next number where it is this one. Returns whether it did. */
static uint8_t take(ws_counter *counter, uint32_t wanted)
{
    uint32_t number;

    return counter->next == wanted && ws_counter_take(counter, &number) == 0;
}

int ws_hss_signer_keygen(ws_counter *counter, ws_hss_key *key, uint8_t public_key[WS_HSS_PUBLIC_KEY])
{
    uint32_t number;

    if ((key->lower_height != 5 && key->lower_height != 10) || ws_counter_take(counter, &number) != 0) {
        return -1;
    }
    key->first = number + 1;
    public_key[0] = 0;
    public_key[1] = 0;
    public_key[2] = 0;
    public_key[3] = 2;
    return ws_lms_keygen(0, key->upper_height, key->seed, key->identifier, public_key + 4);
}

int ws_hss_signer_renew(ws_counter *counter, const ws_hss_key *key, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                        uint32_t *upper_leaf, ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD],
                        uint8_t lower_key[WS_LMS_PUBLIC_KEY])
{
    uint32_t leaf = NO_LEAF;

    if (counter->next >= key->first) {
        /* The next one of which no number was given out. */
        const uint32_t next = (counter->next - key->first + span(key) - 1) / span(key);

        if (next >> key->upper_height == 0) {
            lower tree;

            make_lower(key, next, &tree);
            if (ws_lms_keygen(lower_tree(next), key->lower_height, tree.seed, tree.identifier, lower_key) == 0) {
                ws_counter_start(counter, key->first + next * span(key), WS_LMS_SIGNER_BLOCK);
                leaf = take(counter, key->first + next * span(key)) ? next : NO_LEAF;
            }
            ws_wipe(&tree, sizeof tree);
        }
    }
    *upper_leaf = leaf;
    return ws_lms_sign_begin(signing, 0, key->upper_height, key->seed, key->identifier, leaf, randomizer, lower_key,
                             WS_LMS_PUBLIC_KEY, head);
}

int ws_hss_signer_begin(ws_counter *counter, const ws_hss_key *key, uint32_t upper_leaf,
                        const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                        ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD])
{
    uint32_t leaf = NO_LEAF;
    lower tree;
    int refused;

    make_lower(key, upper_leaf, &tree);
    if (upper_leaf >> key->upper_height == 0 && counter->next >= key->first) {
        /* From its first leaf's number on. */
        const uint32_t next = counter->next - key->first - upper_leaf * span(key) - 1;

        if (next >> key->lower_height == 0 && take(counter, counter->next)) {
            leaf = next;
        }
    }
    refused = ws_lms_sign_begin(signing, lower_tree(upper_leaf), key->lower_height, tree.seed, tree.identifier, leaf, randomizer,
                                message, len, head);
    ws_wipe(&tree, sizeof tree);
    return refused;
}
