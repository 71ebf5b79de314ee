/* SLH-DSA key generation and signatures, FIPS 205 algorithms 18, 19 and 22.
 *
 * A signature is made in pieces of 16 bytes, as they fit into packets: R, then what ws_slh_dsa_sign_next gives, 490 pieces with
 * SLH-DSA-SHA2-128s, 1,067 with 128f. Each leaf of each tree on the way is made anew, which is what takes the time: with 128s 2.22
 * million blocks of SHA-256, with 128f 119,000; for a key pair 292,000 and 4,600. The first piece of a tree waits for
 * the tree.
 *
 * Constant time for a set and lengths: chains are computed to their ends, and what a signature shows of a tree is selected from all of it.
 * RAM: one ws_slh_dsa_signing. Stack: the nodes of a tree that wait for their neighbours, 192 bytes, beside the frames. */
#ifndef WS_SLH_DSA_SIGN_H
#define WS_SLH_DSA_SIGN_H

#include "slh_dsa_steps.h"

/* a or h' of the parameter sets, at most: the nodes beside the way to the root. */
#define WS_SLH_DSA_HEIGHT 12

/* A signature that is being made. Its members are the implementation's. Holds the private key until the last piece is out. */
typedef struct {
    ws_slh_dsa_steps steps;
    uint8_t seed[WS_SLH_DSA_VALUE];
    /* What the signature shows of a tree: the secret value of a leaf of FORS, and the nodes beside the way. */
    uint8_t shown[WS_SLH_DSA_VALUE];
    uint8_t path[WS_SLH_DSA_HEIGHT][WS_SLH_DSA_VALUE];
    /* The tree of FORS, then the layer behind those, and which of its values is next. */
    uint8_t part;
    uint8_t next;
} ws_slh_dsa_signing;

/* Makes a key pair.
 *
 * in:  set: WS_SLH_DSA_SHA2_128S or WS_SLH_DSA_SHA2_128F; seeds: SK.seed || SK.prf || PK.seed, random, the first two secret.
 * out: private_key, whose last 32 bytes are the public key; may be where seeds is.
 * Returns 0, or -1 and writes nothing where set is none of these. */
int ws_slh_dsa_keygen(uint8_t set, const uint8_t seeds[48], uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY]);

/* Begins a signature.
 *
 * in:  set, the one that the key was made for; private_key; random: opt_rand, 16 random bytes, or PK.seed (private_key + 32) for the
 *      deterministic variant; context: context_len bytes, at most 255; message: len bytes; anything where a length is 0.
 * out: signing; randomizer: R, what the signature begins with; overlaps nothing.
 * Returns 0, or -1 where set is none of those or context_len is more than 255; ws_slh_dsa_sign_next refuses then. */
int ws_slh_dsa_sign_begin(ws_slh_dsa_signing *signing, uint8_t set, const uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY],
                          const uint8_t random[WS_SLH_DSA_VALUE], const uint8_t *context, size_t context_len, const uint8_t *message,
                          size_t len, uint8_t randomizer[WS_SLH_DSA_VALUE]);

/* Gives the next piece. After the last one signing is wiped.
 *
 * in/out: signing. out: piece: outside signing.
 * Returns 0, or -1, piece zeroed, when there are no more. */
int ws_slh_dsa_sign_next(ws_slh_dsa_signing *signing, uint8_t piece[WS_SLH_DSA_VALUE]);

#endif
