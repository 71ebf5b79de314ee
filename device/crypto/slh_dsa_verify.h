/* SLH-DSA verification, FIPS 205 algorithms 20 and 24.
 *
 * Message and signature are taken in pieces of any length, as they come by radio or out of flash:
 *
 *     ws_slh_dsa_verify_begin with R, the first 16 bytes of the signature
 *     ws_slh_dsa_verify_message, as often as there are pieces of the message
 *     ws_slh_dsa_verify_signature, as often as there are pieces of what follows R
 *     ws_slh_dsa_verify_end, which says whether the signature is good
 *
 * All of it is public, and the time depends on it: some 2,150 blocks of SHA-256 are hashed with SLH-DSA-SHA2-128s, 6,300 with 128f, and
 * those of the message. RAM: one ws_slh_dsa_verification, beside the frames. */
#ifndef WS_SLH_DSA_VERIFY_H
#define WS_SLH_DSA_VERIFY_H

#include "slh_dsa_steps.h"

/* A signature that is being verified. Its members are the implementation's. */
typedef struct {
    ws_slh_dsa_steps steps;
    uint8_t state;
    /* Bytes of the next value that are there. */
    uint8_t filled;
    /* The tree of FORS, then the layer behind those, and which of its values is next. */
    uint8_t part;
    uint8_t next;
    /* The number of the node that has been reached, in its height. */
    uint16_t node;
} ws_slh_dsa_verification;

/* Begins.
 *
 * in:  set: WS_SLH_DSA_SHA2_128S or WS_SLH_DSA_SHA2_128F; public_key; randomizer: R, what the signature begins with; context: context_len
 *      bytes, anything when that is 0; any alignment.
 * out: verification.
 * Returns 0, or -1 where context_len is more than 255, or set is none of these; ws_slh_dsa_verify_end refuses then. */
int ws_slh_dsa_verify_begin(ws_slh_dsa_verification *verification, uint8_t set, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY],
                            const uint8_t randomizer[WS_SLH_DSA_VALUE], const uint8_t *context, size_t context_len);

/* The same for slh_verify_internal: what the message begins with is the caller's. A message that the one signs is no message of the
 * other. */
int ws_slh_dsa_verify_begin_internal(ws_slh_dsa_verification *verification, uint8_t set,
                                     const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY], const uint8_t randomizer[WS_SLH_DSA_VALUE]);

/* Takes a piece of the message. in: bytes: len of them, anything when len is 0. in/out: verification, of whose signature nothing was
 * taken: after that the end refuses. */
void ws_slh_dsa_verify_message(ws_slh_dsa_verification *verification, const uint8_t *bytes, size_t len);

/* Takes a piece of what follows R. in: bytes: len of them, anything when len is 0. in/out: verification. What is too much makes the end
 * refuse. */
void ws_slh_dsa_verify_signature(ws_slh_dsa_verification *verification, const uint8_t *bytes, size_t len);

/* Ends.
 *
 * in:     public_key: the one given at the beginning.
 * in/out: verification: refused from here on.
 * Returns 0 where the signature was there whole and is good, else -1. */
int ws_slh_dsa_verify_end(ws_slh_dsa_verification *verification, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY]);

#endif
