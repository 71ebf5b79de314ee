/* What signing and verifying with SLH-DSA share: the hash functions of FIPS 205 section 11.2.1, addresses, and what the digest of a message
 * says.
 *
 * PK.seed and 48 zero bytes begin every hash but those of the message: that block is hashed once, and F, PRF and H are one call of
 * ws_sha256_blocks each. Addresses are compressed (ADRSc) and lie where they are hashed, at the beginning of the block.
 *
 * Constant time: set, type and what an address has of the place are public. */
#ifndef WS_SLH_DSA_STEPS_H
#define WS_SLH_DSA_STEPS_H

#include "sha256.h"
#include "slh_dsa.h"

/* len of equation 5.4: the chains of a one-time signature, 32 for the digits of a value and 3 for their checksum. */
#define WS_SLH_DSA_CHAINS 35
/* w - 1. */
#define WS_SLH_DSA_STEPS_OF_CHAIN 15

/* Bytes of an address; behind it in the block is the value, or two. */
#define WS_SLH_DSA_ADDRESS 22

/* Types of addresses, table 1. */
#define WS_SLH_DSA_WOTS_HASH 0
#define WS_SLH_DSA_WOTS_PK 1
#define WS_SLH_DSA_TREE 2
#define WS_SLH_DSA_FORS_TREE 3
#define WS_SLH_DSA_FORS_ROOTS 4
#define WS_SLH_DSA_WOTS_PRF 5
#define WS_SLH_DSA_FORS_PRF 6

/* m of table 2, at most. */
#define WS_SLH_DSA_DIGEST 34

/* The members are the implementation's. */
typedef struct {
    /* d, h', k and a of table 2. */
    uint8_t layers;
    uint8_t height;
    uint8_t trees;
    uint8_t fors_height;
    /* The key pair that signs in the layer. */
    uint16_t leaf;
    /* The digest of the message: md, which is what FORS signs, and behind it what was the tree and the leaf. */
    uint8_t digest[WS_SLH_DSA_DIGEST];
    /* A value and its checksum, whose digits a one-time signature signs. */
    uint8_t value[WS_SLH_DSA_VALUE + 2];
    /* The address and what is hashed with it; R, PK.seed and the hash of the message before. */
    uint8_t block[64];
    /* SHA-256's state after PK.seed, and one that goes on from there. */
    uint32_t seeded[8];
    uint32_t state[8];
    /* Of the message; then of what is longer than two values. */
    ws_sha256_ctx hash;
} ws_slh_dsa_steps;

/* Where the value is that is hashed. */
#define WS_SLH_DSA_AT(steps) ((steps)->block + WS_SLH_DSA_ADDRESS)

/* Copies n bytes, between which nothing overlaps. */
void ws_slh_dsa_copy(uint8_t *to, const uint8_t *from, uint8_t n);

/* Begins with a parameter set: what is hashed first. in: set; public_key: 32 bytes. out: steps. */
void ws_slh_dsa_start(ws_slh_dsa_steps *steps, uint8_t set, const uint8_t *public_key);

/* Begins H_msg. in: randomizer: R. in/out: steps, started; the message follows through ws_sha256_update on steps->hash. */
void ws_slh_dsa_message(ws_slh_dsa_steps *steps, const uint8_t *randomizer, const uint8_t *public_key);

/* Ends H_msg: digest, leaf and tree address. in/out: steps. */
void ws_slh_dsa_end_message(ws_slh_dsa_steps *steps);

/* Begins an address in the layer and tree that it has: a type and a key pair, 0 elsewhere. */
void ws_slh_dsa_address(ws_slh_dsa_steps *steps, uint8_t type, uint16_t pair);

/* The two words behind the key pair: chain or height, and step or index. */
void ws_slh_dsa_place(ws_slh_dsa_steps *steps, uint8_t high, uint16_t low);

/* F and PRF: replaces the value by its hash. H: the first of two. */
void ws_slh_dsa_hash(ws_slh_dsa_steps *steps);
void ws_slh_dsa_hash_two(ws_slh_dsa_steps *steps);

/* T_l: begins with the address that is there; the values follow through ws_sha256_update on steps->hash; then gives the result. out:
 * value. */
void ws_slh_dsa_begin(ws_slh_dsa_steps *steps);
void ws_slh_dsa_end(ws_slh_dsa_steps *steps, uint8_t *value);

/* Which leaf of tree i FORS shows, counted through all its trees. */
uint16_t ws_slh_dsa_fors_leaf(const ws_slh_dsa_steps *steps, uint8_t i);

/* The checksum of steps->value, behind it. */
void ws_slh_dsa_checksum(ws_slh_dsa_steps *steps);

/* Digit i of steps->value and its checksum. */
uint8_t ws_slh_dsa_digit(const ws_slh_dsa_steps *steps, uint8_t i);

/* The layer above: its tree and its leaf. */
void ws_slh_dsa_next_layer(ws_slh_dsa_steps *steps);

#endif
