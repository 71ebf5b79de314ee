#include "slh_dsa_sign.h"

#include "hmac.h"
#include "secret.h"

/* What signing->part is when there is nothing more to give; no part of a parameter set. */
#define ENDED 0xff

/* Returns 1 where a and b are equal, else 0, and does not show which. */
static uint8_t is_same(uint16_t a, uint16_t b)
{
    const uint16_t difference = a ^ b;

    return ws_secret_bit((uint8_t)(((uint32_t)difference - 1) >> 31));
}

/* Copies a value where is_wanted is 1, and does not show whether. */
static void keep(uint8_t *to, const uint8_t *from, uint8_t is_wanted)
{
    const uint8_t mask = (uint8_t)(0 - is_wanted);
    uint8_t i;

    for (i = 0; i < WS_SLH_DSA_VALUE; i++) {
        to[i] = (to[i] & (uint8_t)~mask) | (from[i] & mask);
    }
}

/* PRF: a secret value, in the place of the value; algorithms 6 and 14. */
static void make_secret(ws_slh_dsa_signing *signing, uint8_t type, uint16_t pair, uint8_t high, uint16_t low)
{
    ws_slh_dsa_address(&signing->steps, type, pair);
    ws_slh_dsa_place(&signing->steps, high, low);
    ws_slh_dsa_copy(WS_SLH_DSA_AT(&signing->steps), signing->seed, WS_SLH_DSA_VALUE);
    ws_slh_dsa_hash(&signing->steps);
}

/* Algorithm 15 with z = 0: leaf i of FORS, its secret value kept where it is the one to be shown. */
static void make_fors_leaf(ws_slh_dsa_signing *signing, uint16_t i, uint16_t target)
{
    make_secret(signing, WS_SLH_DSA_FORS_PRF, signing->steps.leaf, 0, i);
    keep(signing->shown, WS_SLH_DSA_AT(&signing->steps), is_same(i, target));
    ws_slh_dsa_address(&signing->steps, WS_SLH_DSA_FORS_TREE, signing->steps.leaf);
    ws_slh_dsa_place(&signing->steps, 0, i);
    ws_slh_dsa_hash(&signing->steps);
}

/* Algorithm 6: a chain of a key pair begins with its secret value. */
static void begin_chain(ws_slh_dsa_signing *signing, uint16_t pair, uint8_t chain)
{
    make_secret(signing, WS_SLH_DSA_WOTS_PRF, pair, chain, 0);
    ws_slh_dsa_address(&signing->steps, WS_SLH_DSA_WOTS_HASH, pair);
}

static void step_chain(ws_slh_dsa_signing *signing, uint8_t chain, uint8_t step)
{
    ws_slh_dsa_place(&signing->steps, chain, step);
    ws_slh_dsa_hash(&signing->steps);
}

/* The same: the public key of key pair i. */
static void make_leaf(ws_slh_dsa_signing *signing, uint16_t i)
{
    uint8_t chain;
    uint8_t step;

    ws_slh_dsa_address(&signing->steps, WS_SLH_DSA_WOTS_PK, i);
    ws_slh_dsa_begin(&signing->steps);
    for (chain = 0; chain < WS_SLH_DSA_CHAINS; chain++) {
        begin_chain(signing, i, chain);
        for (step = 0; step < WS_SLH_DSA_STEPS_OF_CHAIN; step++) {
            step_chain(signing, chain, step);
        }
        ws_sha256_update(&signing->steps.hash, WS_SLH_DSA_AT(&signing->steps), WS_SLH_DSA_VALUE);
    }
    ws_slh_dsa_end(&signing->steps, WS_SLH_DSA_AT(&signing->steps));
}

/* Algorithm 7: the value of a chain at the step that the digit says, of all of them. */
static void show_chain(ws_slh_dsa_signing *signing, uint8_t chain)
{
    const uint8_t digit = ws_slh_dsa_digit(&signing->steps, chain);
    uint8_t step = 0;

    begin_chain(signing, signing->steps.leaf, chain);
    for (;;) {
        keep(signing->shown, WS_SLH_DSA_AT(&signing->steps), is_same(step, digit));
        if (step == WS_SLH_DSA_STEPS_OF_CHAIN) {
            return;
        }
        step_chain(signing, chain, step);
        step++;
    }
}

/* Algorithms 9 and 15: makes a tree, leaf after leaf, and keeps what is beside the way from the leaf `target`. Numbers of leaves
 * begin with first. out: root. */
static void make_tree(ws_slh_dsa_signing *signing, uint8_t height, uint16_t first, uint16_t target, uint8_t root[WS_SLH_DSA_VALUE])
{
    /* Of each height the left node that waits for the right one. Nodes are hashes of secret values, and need no wiping. */
    uint8_t waiting[WS_SLH_DSA_HEIGHT][WS_SLH_DSA_VALUE];
    uint8_t *const left = WS_SLH_DSA_AT(&signing->steps);
    uint8_t *const right = left + WS_SLH_DSA_VALUE;
    const uint8_t is_fors = signing->part < signing->steps.trees;
    uint16_t i;
    uint8_t at;

    for (i = 0; i < (uint16_t)(1u << height); i++) {
        uint16_t node = first + i;

        if (is_fors) {
            make_fors_leaf(signing, node, target);
        } else {
            make_leaf(signing, node);
            ws_slh_dsa_address(&signing->steps, WS_SLH_DSA_TREE, 0);
        }
        for (at = 0; at < height; at++) {
            keep(signing->path[at], left, is_same(node, (target >> at) ^ 1));
            if ((node & 1) == 0) {
                break;
            }
            node >>= 1;
            ws_slh_dsa_copy(right, left, WS_SLH_DSA_VALUE);
            ws_slh_dsa_copy(left, waiting[at], WS_SLH_DSA_VALUE);
            ws_slh_dsa_place(&signing->steps, at + 1, node);
            ws_slh_dsa_hash_two(&signing->steps);
        }
        if (at < height) {
            ws_slh_dsa_copy(waiting[at], left, WS_SLH_DSA_VALUE);
        }
    }
    ws_slh_dsa_copy(root, left, WS_SLH_DSA_VALUE);
}

int ws_slh_dsa_keygen(uint8_t set, const uint8_t seeds[48], uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY])
{
    ws_slh_dsa_signing signing;
    uint8_t i;

    if (set > WS_SLH_DSA_SHA2_128F) {
        return -1;
    }
    for (i = 0; i < 48; i++) {
        private_key[i] = seeds[i];
    }
    ws_slh_dsa_start(&signing.steps, set, private_key + 32);
    ws_slh_dsa_copy(signing.seed, private_key, WS_SLH_DSA_VALUE);
    /* The layer on top. */
    for (i = 0; i < WS_SLH_DSA_ADDRESS; i++) {
        signing.steps.block[i] = 0;
    }
    signing.steps.block[0] = signing.steps.layers - 1;
    signing.part = signing.steps.trees;
    make_tree(&signing, signing.steps.height, 0, 0, private_key + 48);
    ws_wipe(&signing, sizeof signing);
    return 0;
}

int ws_slh_dsa_sign_begin(ws_slh_dsa_signing *signing, uint8_t set, const uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY],
                          const uint8_t random[WS_SLH_DSA_VALUE], const uint8_t *context, size_t context_len, const uint8_t *message,
                          size_t len, uint8_t randomizer[WS_SLH_DSA_VALUE])
{
    ws_hmac_sha256_ctx prf;
    uint8_t mac[32];
    uint8_t prefix[2];

    signing->part = ENDED;
    if (set > WS_SLH_DSA_SHA2_128F || context_len > 255) {
        return -1;
    }
    /* Algorithm 22 step 8. */
    prefix[0] = 0;
    prefix[1] = (uint8_t)context_len;
    /* PRF_msg. */
    ws_hmac_sha256_init(&prf, private_key + 16, WS_SLH_DSA_VALUE);
    ws_hmac_sha256_update(&prf, random, WS_SLH_DSA_VALUE);
    ws_hmac_sha256_update(&prf, prefix, 2);
    ws_hmac_sha256_update(&prf, context, context_len);
    ws_hmac_sha256_update(&prf, message, len);
    ws_hmac_sha256_final(&prf, mac);
    ws_slh_dsa_copy(randomizer, mac, WS_SLH_DSA_VALUE);
    ws_wipe(mac, sizeof mac);

    ws_slh_dsa_start(&signing->steps, set, private_key + 32);
    ws_slh_dsa_message(&signing->steps, randomizer, private_key + 32);
    ws_sha256_update(&signing->steps.hash, prefix, 2);
    ws_sha256_update(&signing->steps.hash, context, context_len);
    ws_sha256_update(&signing->steps.hash, message, len);
    ws_slh_dsa_end_message(&signing->steps);
    ws_slh_dsa_copy(signing->seed, private_key, WS_SLH_DSA_VALUE);
    ws_slh_dsa_address(&signing->steps, WS_SLH_DSA_FORS_ROOTS, signing->steps.leaf);
    ws_slh_dsa_begin(&signing->steps);
    signing->part = 0;
    signing->next = 0;
    return 0;
}

/* Algorithm 16: the secret value of a tree of FORS, and the nodes beside the way. */
static void give_fors(ws_slh_dsa_signing *signing, uint8_t *piece)
{
    ws_slh_dsa_steps *const steps = &signing->steps;

    if (signing->next == 0) {
        const uint16_t first = (uint16_t)((uint16_t)signing->part << steps->fors_height);

        make_tree(signing, steps->fors_height, first, ws_slh_dsa_fors_leaf(steps, signing->part), steps->value);
        ws_sha256_update(&steps->hash, steps->value, WS_SLH_DSA_VALUE);
        ws_slh_dsa_copy(piece, signing->shown, WS_SLH_DSA_VALUE);
    } else {
        ws_slh_dsa_copy(piece, signing->path[signing->next - 1], WS_SLH_DSA_VALUE);
    }
    if (signing->next++ != steps->fors_height) {
        return;
    }
    signing->next = 0;
    signing->part++;
    if (signing->part == steps->trees) {
        ws_slh_dsa_end(steps, steps->value);
        ws_slh_dsa_checksum(steps);
    }
}

/* Algorithms 7, 10 and 12: the values of a one-time signature, and the nodes beside the way. */
static void give_layer(ws_slh_dsa_signing *signing, uint8_t *piece)
{
    ws_slh_dsa_steps *const steps = &signing->steps;

    if (signing->next < WS_SLH_DSA_CHAINS) {
        show_chain(signing, signing->next);
        ws_slh_dsa_copy(piece, signing->shown, WS_SLH_DSA_VALUE);
    } else {
        if (signing->next == WS_SLH_DSA_CHAINS) {
            make_tree(signing, steps->height, 0, steps->leaf, steps->value);
        }
        ws_slh_dsa_copy(piece, signing->path[signing->next - WS_SLH_DSA_CHAINS], WS_SLH_DSA_VALUE);
    }
    signing->next++;
    if (signing->next != WS_SLH_DSA_CHAINS + steps->height) {
        return;
    }
    signing->next = 0;
    signing->part++;
    if (signing->part == steps->trees + steps->layers) {
        ws_wipe(signing, sizeof *signing);
        signing->part = ENDED;
        return;
    }
    ws_slh_dsa_next_layer(steps);
    ws_slh_dsa_checksum(steps);
}

int ws_slh_dsa_sign_next(ws_slh_dsa_signing *signing, uint8_t piece[WS_SLH_DSA_VALUE])
{
    if (signing->part == ENDED) {
        ws_wipe(piece, WS_SLH_DSA_VALUE);
        return -1;
    }
    if (signing->part < signing->steps.trees) {
        give_fors(signing, piece);
    } else {
        give_layer(signing, piece);
    }
    return 0;
}
