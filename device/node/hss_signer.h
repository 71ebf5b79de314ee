/* HSS signatures (RFC 8554 section 6) of two levels, both LMS trees of ../crypto/lms_sign.h: an upper one whose leaves sign public keys of lower ones,
 * whose leaves sign messages. Both are counted by one counter that never gives a number twice (counter.h):
 *
 *     upper leaf u           the number  first + u (1 + 2^lower_height)
 *     leaf v of its tree     the number  first + u (1 + 2^lower_height) + 1 + v
 *
 * A leaf is used once its number's record was read back, and never again: an upper leaf signs one public key, a lower one one message. A power
 * failure costs the leaf; a lower tree that is left early costs the numbers of its other leaves, of which there are enough.
 *
 * A lower tree's seed and identifier come of the upper one's and u, as those of cisco/hash-sigs: ws_one_time_secret at the places 0xfffe and
 * 0xffff. Nothing secret is kept but the key.
 *
 * Nodes of the upper tree are of tree 0, of the lower ones of 1 and 2 in turn (lms_sign.h): a lower tree is made, which takes minutes, while the one before
 * still signs. What the application keeps of a lower tree, beside its nodes, is what ws_hss_signer_renew gives: u, and the signature
 * of the public key, and that. Where some of it is not kept, or a power failure came between, it renews once more. A signature of a message is then
 * u32str(1), the signed public key, and what ws_hss_signer_begin and ws_lms_sign_next give.
 *
 * The counter is the signer's alone: begun with ws_counter_start(counter, 0, WS_LMS_SIGNER_BLOCK), of lms_signer.h, which says what else is the
 * application's to see to. */
#ifndef WS_NODE_HSS_SIGNER_H
#define WS_NODE_HSS_SIGNER_H

#include "../crypto/hss.h"
#include "lms_signer.h"

/* A private key. */
typedef struct {
    /* Of the upper tree: random and secret; random. */
    uint8_t seed[32];
    uint8_t identifier[16];
    /* Of the trees: 5 or 10. */
    uint8_t upper_height;
    uint8_t lower_height;
    /* The counter's number for upper leaf 0. */
    uint32_t first;
} ws_hss_key;

/* Makes a key pair, and reserves the number before its first leaf's. Its upper tree goes to ws_lms_write_node.
 *
 * in/out: counter, started; key: seed, identifier, new for each pair, and heights; out: its first; public_key. The key is stored before it
 * signs.
 * Returns 0, or -1 where a height is none or the counter's memory does not keep what is written. */
int ws_hss_signer_keygen(ws_counter *counter, ws_hss_key *key, uint8_t public_key[WS_HSS_PUBLIC_KEY]);

/* Makes the next lower tree, whose nodes go to ws_lms_write_node, and begins the upper tree's signature of its public key: from here on no lower tree
 * before it signs. Its pieces come by ws_lms_sign_next.
 *
 * in: key; randomizer: as ws_lms_sign_begin. in/out: counter. out: upper_leaf: u; signing; head; lower_key: the public key.
 * Returns 0; or -1, nothing signed and ws_lms_sign_next gives nothing, where all upper leaves are used, the counter's memory does not keep what is
 * written, or it is not the memory that the key was made with. */
int ws_hss_signer_renew(ws_counter *counter, const ws_hss_key *key, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                        uint32_t *upper_leaf, ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD],
                        uint8_t lower_key[WS_LMS_PUBLIC_KEY]);

/* Begins a message's signature by the next leaf of a lower tree; the pieces come by ws_lms_sign_next.
 *
 * in: key; upper_leaf: of the lower tree that was made last, all of which was kept; randomizer, message: as ws_lms_sign_begin. in/out: counter.
 * out: signing; head.
 * Returns 0; or -1, nothing signed and ws_lms_sign_next gives nothing, where it is another tree's turn or all its leaves are used, so that it is to be
 * renewed, the counter's memory does not keep what is written, or it is not the memory that the key was made with. */
int ws_hss_signer_begin(ws_counter *counter, const ws_hss_key *key, uint32_t upper_leaf,
                        const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                        ws_lms_signing *signing, uint8_t head[WS_LMS_HEAD]);

#endif
