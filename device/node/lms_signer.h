/* LMS signatures (../crypto/lms_sign.h) whose leaves are counted by a counter that never gives a number twice (counter.h): a leaf is reserved,
 * and its record read back, before the signature that uses it is begun. A power failure costs the leaf.
 *
 * The counter is the signer's alone: begun with ws_counter_start(counter, 0, WS_LMS_SIGNER_BLOCK). Its numbers go on when a key pair is made
 * anew, so that the old one's leaves are never counted again. A key says at which number its leaves begin; where the counter has lost its
 * records it is behind that, and nothing is signed. Whoever restores a copy of that memory, or copies key and memory to another
 * device, signs twice with a leaf: no counter can see that. */
#ifndef WS_NODE_LMS_SIGNER_H
#define WS_NODE_LMS_SIGNER_H

#include "../crypto/lms_sign.h"
#include "counter.h"

/* A record for each signature: a tree has too few leaves to lose some at each start. An erasure for each 10 signatures and each start. */
#define WS_LMS_SIGNER_BLOCK 1

/* A private key. */
typedef struct {
    /* Random and secret; random. */
    uint8_t seed[32];
    uint8_t identifier[16];
    /* 5 or 10. */
    uint8_t height;
    /* The counter's number for leaf 0. */
    uint32_t first;
} ws_lms_key;

/* Makes a key pair, and reserves the number before its first leaf's. Its tree, number 0, goes to ws_lms_write_node.
 *
 * in/out: counter, started; key: seed, identifier, new for each pair, and height; out: its first; public_key. The key is stored before it
 * signs.
 * Returns 0, or -1 where the height is none or the counter's memory does not keep what is written. */
int ws_lms_signer_keygen(ws_counter *counter, ws_lms_key *key, uint8_t public_key[WS_LMS_PUBLIC_KEY]);

/* Begins a signature by the next leaf; the pieces come by ws_lms_sign_next.
 *
 * in: key; randomizer, message: as ws_lms_sign_begin. in/out: counter. out: signing; head.
 * Returns 0; or -1, nothing signed and ws_lms_sign_next gives nothing, where all leaves are used, the counter's memory does not keep what is
 * written, or it is not the memory that the key was made with. */
int ws_lms_signer_begin(ws_counter *counter, const ws_lms_key *key, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                        const uint8_t *message, size_t len, ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD]);

#endif
