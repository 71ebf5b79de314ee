/* LMS: key generation and signatures, RFC 8554 sections 4 and 5, with LMOTS_SHA256_N32_W8 and LMS_SHA256_M32_H5 or H10. Secret values come
 * of a seed as in its appendix A.
 *
 * A LEAF SIGNS ONE MESSAGE. Two signatures by one leaf let anybody sign others. Who calls these keeps the number of the next leaf in
 * non-volatile memory, and there it is advanced, and read back, before ws_lms_sign_begin: device/node/lms_signer.h does.
 *
 * A tree has 2^(height + 1) - 1 nodes of 32 bytes, 2,016 bytes with height 5, 65,504 with 10. Key generation writes them, signing reads those
 * beside its way to the root; they are nobody's secret, and a wrong one makes a signature bad and gives nothing away.
 *
 * A signature is made in pieces: its head, and then 34 values, the tree's type and `height` nodes. Signing hashes as many blocks as the
 * digits of the message sum up to, some 4,400, which C and the message decide; a key pair of height 5 takes 279,198, of height 10
 * 8.93 million. Otherwise constant time. RAM: one ws_lms_signing. Stack of key generation: two hash contexts and the nodes that wait for
 * their neighbours, 560 bytes, beside the frames. */
#ifndef WS_LMS_SIGN_H
#define WS_LMS_SIGN_H

#include "lms.h"

/* Of the trees here, at most. */
#define WS_LMS_SIGN_HEIGHT 10

/* A signature that is being made. Its members are the implementation's. Holds the seed until the last secret value is out. */
typedef struct {
    uint8_t name[WS_ONE_TIME_NAME];
    uint8_t seed[32];
    /* Q and its checksum. */
    uint8_t digits[34];
    uint8_t tree;
    uint8_t height;
    /* The next piece: the values, the type, the nodes. */
    uint8_t next;
    /* The node that the way to the root has come to. */
    uint16_t node;
} ws_lms_signing;

/* Makes a key pair: writes all nodes of its tree (ws_lms_write_node).
 *
 * in:  tree: the application's number for it, of several; height: 5 or 10; seed: random and secret; identifier: I, random.
 * out: public_key: as in lms.h; overlaps neither.
 * Returns 0, or -1 and writes nothing where there is no such height here. */
int ws_lms_keygen(uint8_t tree, uint8_t height, const uint8_t seed[32], const uint8_t identifier[16],
                  uint8_t public_key[WS_LMS_PUBLIC_KEY]);

/* Begins a signature. The leaf is used up.
 *
 * in:  tree, height, seed, identifier: as for the key pair; leaf: q, below 2^height; randomizer: C, 32 random bytes, new for each message;
 *      message: len bytes, anything when len is 0.
 * out: signing; head: the signature's first bytes.
 * Returns 0, or -1 where there is no such height here or no such leaf; ws_lms_sign_next gives nothing then. */
int ws_lms_sign_begin(ws_lms_signing *signing, uint8_t tree, uint8_t height, const uint8_t seed[32], const uint8_t identifier[16],
                      uint32_t leaf, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len, uint8_t head[WS_LMS_HEAD]);

/* Gives the next piece. After the last one signing is wiped.
 *
 * in/out: signing. out: piece: outside signing.
 * Returns its bytes, 32 or 4; 0 when there are no more. */
uint8_t ws_lms_sign_next(ws_lms_signing *signing, uint8_t piece[32]);

/* The application supplies these two. */

/* Keeps a node of a tree: each once for each key pair, number 1 the root, the nodes below number r 2r and 2r + 1. in: node: its bytes are there during the
 * call. */
void ws_lms_write_node(uint8_t tree, uint16_t number, const uint8_t node[32]);

/* Gives a node that was written. out: node. */
void ws_lms_read_node(uint8_t tree, uint16_t number, uint8_t node[32]);

#endif
