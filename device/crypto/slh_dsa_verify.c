#include "slh_dsa_verify.h"

#include "secret.h"

/* What verification->state is: what is being taken, that all of it was there, or that nothing is taken any more. */
enum { MESSAGE, SIGNATURE, WHOLE, REFUSED };

int ws_slh_dsa_verify_begin_internal(ws_slh_dsa_verification *verification, uint8_t set,
                                     const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY], const uint8_t randomizer[WS_SLH_DSA_VALUE])
{
    verification->state = REFUSED;
    if (set > WS_SLH_DSA_SHA2_128F) {
        return -1;
    }
    ws_slh_dsa_start(&verification->steps, set, public_key);
    ws_slh_dsa_message(&verification->steps, randomizer, public_key);
    verification->state = MESSAGE;
    return 0;
}

int ws_slh_dsa_verify_begin(ws_slh_dsa_verification *verification, uint8_t set, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY],
                            const uint8_t randomizer[WS_SLH_DSA_VALUE], const uint8_t *context, size_t context_len)
{
    uint8_t prefix[2];

    if (ws_slh_dsa_verify_begin_internal(verification, set, public_key, randomizer) != 0 || context_len > 255) {
        verification->state = REFUSED;
        return -1;
    }
    /* Algorithm 24 step 4. */
    prefix[0] = 0;
    prefix[1] = (uint8_t)context_len;
    ws_sha256_update(&verification->steps.hash, prefix, 2);
    ws_sha256_update(&verification->steps.hash, context, context_len);
    return 0;
}

void ws_slh_dsa_verify_message(ws_slh_dsa_verification *verification, const uint8_t *bytes, size_t len)
{
    if (verification->state != MESSAGE) {
        verification->state = REFUSED;
        return;
    }
    ws_sha256_update(&verification->steps.hash, bytes, len);
}

/* The message has ended, and FORS begins: the hash of its roots does. */
static void end_message(ws_slh_dsa_verification *verification)
{
    ws_slh_dsa_steps *const steps = &verification->steps;

    ws_slh_dsa_end_message(steps);
    ws_slh_dsa_address(steps, WS_SLH_DSA_FORS_ROOTS, steps->leaf);
    ws_slh_dsa_begin(steps);
    verification->state = SIGNATURE;
    verification->filled = 0;
    verification->part = 0;
    verification->next = 0;
}

/* Algorithms 11 and 17: the node above, at this height, of the one that was reached and the value beside it. */
static void climb(ws_slh_dsa_verification *verification, uint8_t height)
{
    uint8_t *const left = WS_SLH_DSA_AT(&verification->steps);
    uint8_t *const right = left + WS_SLH_DSA_VALUE;
    const uint8_t is_right = verification->node & 1;

    verification->node >>= 1;
    ws_slh_dsa_place(&verification->steps, height, verification->node);
    if (!is_right) {
        ws_slh_dsa_copy(right, left, WS_SLH_DSA_VALUE);
    }
    ws_slh_dsa_copy(is_right ? right : left, verification->steps.value, WS_SLH_DSA_VALUE);
    ws_slh_dsa_hash_two(&verification->steps);
    ws_slh_dsa_copy(verification->steps.value, left, WS_SLH_DSA_VALUE);
}

/* A layer begins: the hash of the ends of its chains does. */
static void begin_layer(ws_slh_dsa_steps *steps)
{
    ws_slh_dsa_checksum(steps);
    ws_slh_dsa_address(steps, WS_SLH_DSA_WOTS_PK, steps->leaf);
    ws_slh_dsa_begin(steps);
    ws_slh_dsa_address(steps, WS_SLH_DSA_WOTS_HASH, steps->leaf);
}

/* Algorithm 17: the next value of a tree of FORS. */
static void take_fors(ws_slh_dsa_verification *verification)
{
    ws_slh_dsa_steps *const steps = &verification->steps;

    if (verification->next == 0) {
        verification->node = ws_slh_dsa_fors_leaf(steps, verification->part);
        ws_slh_dsa_address(steps, WS_SLH_DSA_FORS_TREE, steps->leaf);
        ws_slh_dsa_place(steps, 0, verification->node);
        ws_slh_dsa_hash(steps);
        ws_slh_dsa_copy(steps->value, WS_SLH_DSA_AT(steps), WS_SLH_DSA_VALUE);
    } else {
        climb(verification, verification->next);
    }
    if (verification->next++ != steps->fors_height) {
        return;
    }
    ws_sha256_update(&steps->hash, steps->value, WS_SLH_DSA_VALUE);
    verification->next = 0;
    verification->part++;
    if (verification->part == steps->trees) {
        ws_slh_dsa_end(steps, steps->value);
        begin_layer(steps);
    }
}

/* Algorithm 8: the rest of a chain, and behind the last one the leaf. */
static void end_chain(ws_slh_dsa_verification *verification)
{
    ws_slh_dsa_steps *const steps = &verification->steps;
    uint8_t step;

    for (step = ws_slh_dsa_digit(steps, verification->next); step < WS_SLH_DSA_STEPS_OF_CHAIN; step++) {
        ws_slh_dsa_place(steps, verification->next, step);
        ws_slh_dsa_hash(steps);
    }
    ws_sha256_update(&steps->hash, WS_SLH_DSA_AT(steps), WS_SLH_DSA_VALUE);
    if (verification->next == WS_SLH_DSA_CHAINS - 1) {
        ws_slh_dsa_end(steps, steps->value);
        ws_slh_dsa_address(steps, WS_SLH_DSA_TREE, 0);
        verification->node = steps->leaf;
    }
}

/* Algorithms 11 and 13: the next value of a layer. */
static void take_layer(ws_slh_dsa_verification *verification)
{
    ws_slh_dsa_steps *const steps = &verification->steps;

    if (verification->next < WS_SLH_DSA_CHAINS) {
        end_chain(verification);
    } else {
        climb(verification, verification->next - (WS_SLH_DSA_CHAINS - 1));
    }
    verification->next++;
    if (verification->next != WS_SLH_DSA_CHAINS + steps->height) {
        return;
    }
    verification->next = 0;
    verification->part++;
    if (verification->part == steps->trees + steps->layers) {
        verification->state = WHOLE;
        return;
    }
    ws_slh_dsa_next_layer(steps);
    begin_layer(steps);
}

void ws_slh_dsa_verify_signature(ws_slh_dsa_verification *verification, const uint8_t *bytes, size_t len)
{
    if (verification->state == MESSAGE) {
        end_message(verification);
    }
    for (; len != 0; len--) {
        if (verification->state != SIGNATURE) {
            verification->state = REFUSED;
            return;
        }
        WS_SLH_DSA_AT(&verification->steps)[verification->filled] = *bytes++;
        verification->filled++;
        if (verification->filled == WS_SLH_DSA_VALUE) {
            verification->filled = 0;
            if (verification->part < verification->steps.trees) {
                take_fors(verification);
            } else {
                take_layer(verification);
            }
        }
    }
}

int ws_slh_dsa_verify_end(ws_slh_dsa_verification *verification, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY])
{
    const uint8_t is_whole = verification->state == WHOLE;

    verification->state = REFUSED;
    return is_whole && ws_equal(verification->steps.value, public_key + WS_SLH_DSA_VALUE, WS_SLH_DSA_VALUE) ? 0 : -1;
}
