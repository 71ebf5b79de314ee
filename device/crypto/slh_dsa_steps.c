#include "slh_dsa_steps.h"

/* Where ADRSc (section 11.2) has its parts. All of the numbers fit into their last two bytes. */
enum { LAYER = 0, TREE = 1, TYPE = 9, PAIR = 12, HIGH = 17, LOW = 20 };

/* Bytes of the tree's number in an address. */
#define TREE_BYTES 8

void ws_slh_dsa_copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}

/* A state of SHA-256. */
static void copy_state(uint32_t *to, const uint32_t *from)
{
    ws_slh_dsa_copy((uint8_t *)to, (const uint8_t *)from, 32);
}

void ws_slh_dsa_start(ws_slh_dsa_steps *steps, uint8_t set, const uint8_t *public_key)
{
    uint8_t i;

    /* Table 2. */
    if (set == WS_SLH_DSA_SHA2_128S) {
        steps->layers = 7;
        steps->height = 9;
        steps->trees = 14;
        steps->fors_height = 12;
    } else {
        steps->layers = 22;
        steps->height = 3;
        steps->trees = 33;
        steps->fors_height = 6;
    }
    ws_sha256_init(&steps->hash);
    ws_slh_dsa_copy(steps->block, public_key, WS_SLH_DSA_VALUE);
    for (i = WS_SLH_DSA_VALUE; i < 64; i++) {
        steps->block[i] = 0;
    }
    ws_sha256_blocks(steps->hash.state, steps->block, 1);
    copy_state(steps->seeded, steps->hash.state);
}

void ws_slh_dsa_message(ws_slh_dsa_steps *steps, const uint8_t *randomizer, const uint8_t *public_key)
{
    ws_slh_dsa_copy(steps->block, randomizer, WS_SLH_DSA_VALUE);
    ws_slh_dsa_copy(steps->block + WS_SLH_DSA_VALUE, public_key, WS_SLH_DSA_VALUE);
    ws_sha256_init(&steps->hash);
    ws_sha256_update(&steps->hash, randomizer, WS_SLH_DSA_VALUE);
    ws_sha256_update(&steps->hash, public_key, WS_SLH_DSA_PUBLIC_KEY);
}

/* The bytes of the digest that are md. */
static uint8_t fors_bytes(const ws_slh_dsa_steps *steps)
{
    return (uint8_t)(((uint16_t)steps->trees * steps->fors_height + 7) >> 3);
}

void ws_slh_dsa_end_message(ws_slh_dsa_steps *steps)
{
    /* The bits of the number of a tree in the lowest layer, and their bytes. */
    const uint8_t bits = (uint8_t)((steps->layers - 1) * steps->height);
    const uint8_t bytes = (uint8_t)((bits + 7) >> 3);
    const uint8_t tree = TYPE - bytes;
    uint8_t counter[4] = {0, 0, 0, 0};
    uint8_t mask[32];
    const uint8_t *from = steps->digest + fors_bytes(steps);
    uint8_t i;

    ws_sha256_final(&steps->hash, steps->block + 32);
    /* MGF1 of RFC 8017 appendix B.2.1, whose seed is the block. */
    for (; counter[3] < 2; counter[3]++) {
        ws_sha256_init(&steps->hash);
        ws_sha256_update(&steps->hash, steps->block, 64);
        ws_sha256_update(&steps->hash, counter, 4);
        ws_sha256_final(&steps->hash, mask);
        ws_slh_dsa_copy(steps->digest + 32 * counter[3], mask, counter[3] == 0 ? 32 : WS_SLH_DSA_DIGEST - 32);
    }
    /* Algorithm 20, steps 7 to 10: the tree into the address of the lowest layer. */
    for (i = 0; i < WS_SLH_DSA_ADDRESS; i++) {
        steps->block[i] = 0;
    }
    ws_slh_dsa_copy(&steps->block[tree], from, bytes);
    steps->block[tree] &= (uint8_t)(0xff >> (8 * bytes - bits));
    from += bytes;
    steps->leaf = *from;
    if (steps->height > 8) {
        steps->leaf = (uint16_t)(steps->leaf << 8) | from[1];
    }
    steps->leaf &= (uint16_t)((1u << steps->height) - 1);
}

void ws_slh_dsa_address(ws_slh_dsa_steps *steps, uint8_t type, uint16_t pair)
{
    uint8_t i;

    for (i = TYPE + 1; i < WS_SLH_DSA_ADDRESS; i++) {
        steps->block[i] = 0;
    }
    steps->block[TYPE] = type;
    steps->block[PAIR] = (uint8_t)(pair >> 8);
    steps->block[PAIR + 1] = (uint8_t)pair;
}

void ws_slh_dsa_place(ws_slh_dsa_steps *steps, uint8_t high, uint16_t low)
{
    steps->block[HIGH] = high;
    steps->block[LOW] = (uint8_t)(low >> 8);
    steps->block[LOW + 1] = (uint8_t)low;
}

/* Hashes the block up to its byte `end`, and leaves the result where the value is. */
static void hash_block(ws_slh_dsa_steps *steps, uint8_t end)
{
    const uint16_t bits = (uint16_t)(64 + end) << 3;
    uint8_t *value = WS_SLH_DSA_AT(steps);
    uint8_t i;

    /* FIPS 180-4 section 5.1.1. */
    steps->block[end] = 0x80;
    for (i = end + 1; i < 62; i++) {
        steps->block[i] = 0;
    }
    steps->block[62] = (uint8_t)(bits >> 8);
    steps->block[63] = (uint8_t)bits;
    copy_state(steps->state, steps->seeded);
    ws_sha256_blocks(steps->state, steps->block, 1);
    for (i = 0; i < WS_SLH_DSA_VALUE / 4; i++) {
        const uint32_t word = steps->state[i];

        *value++ = (uint8_t)(word >> 24);
        *value++ = (uint8_t)(word >> 16);
        *value++ = (uint8_t)(word >> 8);
        *value++ = (uint8_t)word;
    }
}

void ws_slh_dsa_hash(ws_slh_dsa_steps *steps)
{
    hash_block(steps, WS_SLH_DSA_ADDRESS + WS_SLH_DSA_VALUE);
}

void ws_slh_dsa_hash_two(ws_slh_dsa_steps *steps)
{
    hash_block(steps, WS_SLH_DSA_ADDRESS + 2 * WS_SLH_DSA_VALUE);
}

void ws_slh_dsa_begin(ws_slh_dsa_steps *steps)
{
    copy_state(steps->hash.state, steps->seeded);
    steps->hash.length[0] = 64;
    steps->hash.length[1] = 0;
    ws_sha256_update(&steps->hash, steps->block, WS_SLH_DSA_ADDRESS);
}

void ws_slh_dsa_end(ws_slh_dsa_steps *steps, uint8_t *value)
{
    uint8_t digest[32];

    ws_sha256_final(&steps->hash, digest);
    ws_slh_dsa_copy(value, digest, WS_SLH_DSA_VALUE);
}

uint16_t ws_slh_dsa_fors_leaf(const ws_slh_dsa_steps *steps, uint8_t i)
{
    /* base_2b of algorithm 4: a bits of md, from this one on. */
    uint16_t bit = (uint16_t)i * steps->fors_height;
    uint16_t leaf = i;
    uint8_t left;

    for (left = steps->fors_height; left != 0; left--) {
        const uint8_t byte = steps->digest[bit >> 3];

        leaf = (uint16_t)(leaf << 1) | (uint8_t)((uint8_t)(byte >> (7 - (bit & 7))) & 1);
        bit++;
    }
    return leaf;
}

uint8_t ws_slh_dsa_digit(const ws_slh_dsa_steps *steps, uint8_t i)
{
    const uint8_t byte = steps->value[i >> 1];

    return (i & 1) != 0 ? byte & 15 : byte >> 4;
}

void ws_slh_dsa_checksum(ws_slh_dsa_steps *steps)
{
    uint16_t sum = 2 * WS_SLH_DSA_VALUE * WS_SLH_DSA_STEPS_OF_CHAIN;
    uint8_t i;

    for (i = 0; i < 2 * WS_SLH_DSA_VALUE; i++) {
        sum -= ws_slh_dsa_digit(steps, i);
    }
    /* Algorithm 7 step 6: three digits, from the left. */
    sum <<= 4;
    steps->value[WS_SLH_DSA_VALUE] = (uint8_t)(sum >> 8);
    steps->value[WS_SLH_DSA_VALUE + 1] = (uint8_t)sum;
}

/* The tree's number halved; returns the bit that leaves it. */
static uint8_t halve(ws_slh_dsa_steps *steps)
{
    uint8_t bit = 0;
    uint8_t i;

    for (i = TREE; i < TREE + TREE_BYTES; i++) {
        const uint8_t next = steps->block[i] & 1;

        steps->block[i] = (uint8_t)(steps->block[i] >> 1) | (uint8_t)(bit << 7);
        bit = next;
    }
    return bit;
}

void ws_slh_dsa_next_layer(ws_slh_dsa_steps *steps)
{
    uint8_t i;

    /* Algorithm 13, steps 8 to 10. */
    steps->leaf = 0;
    for (i = 0; i < steps->height; i++) {
        steps->leaf |= (uint16_t)((uint16_t)halve(steps) << i);
    }
    steps->block[LAYER]++;
}
