#include "lms_sign.h"

#include "secret.h"

/* LMOTS_SHA256_N32_W8 of RFC 8554 table 1: its type, p, and the steps of a chain. */
#define TYPE 4
#define CHAINS 34
#define STEPS 255

/* What signing->next is when there is nothing more to give. */
#define ENDED 0xff

static void copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}

/* Whether there are such trees here. */
static uint8_t is_known(uint8_t height)
{
    return height == 5 || height == 10;
}

/* I, and a leaf's or a node's number. */
static void set_name(uint8_t name[WS_ONE_TIME_NAME], const uint8_t identifier[16], uint16_t number)
{
    copy(name, identifier, 16);
    name[16] = 0;
    name[17] = 0;
    name[18] = (uint8_t)(number >> 8);
    name[19] = (uint8_t)number;
}

/* u32str of a type. */
static void write_type(uint8_t *to, uint8_t type)
{
    to[0] = 0;
    to[1] = 0;
    to[2] = 0;
    to[3] = type;
}

/* Table 2: the type of a tree. */
static uint8_t type_of(uint8_t height)
{
    return (uint8_t)(4 + height / 5);
}

/* What is hashed on the way to a public key. */
typedef struct {
    ws_sha256_ctx chain;
    ws_sha256_ctx hash;
    uint8_t name[WS_ONE_TIME_NAME];
} key_work;

/* Algorithm 1: K of a leaf. out: key. */
static void make_key(key_work *work, const uint8_t seed[32], uint8_t key[32])
{
    uint8_t i;
    uint8_t step;

    ws_one_time_begin(&work->hash, work->name, WS_ONE_TIME_PUBLIC);
    for (i = 0; i < CHAINS; i++) {
        ws_one_time_secret(&work->chain, work->name, i, seed);
        for (step = 0; step < STEPS; step++) {
            ws_one_time_step(&work->chain, step);
        }
        ws_sha256_update(&work->hash, work->chain.block + WS_ONE_TIME_VALUE, 32);
    }
    ws_sha256_final(&work->hash, key);
}

int ws_lms_keygen(uint8_t tree, uint8_t height, const uint8_t seed[32], const uint8_t identifier[16],
                  uint8_t public_key[WS_LMS_PUBLIC_KEY])
{
    key_work work;
    /* Of each height the left node that waits for the right one. Nodes are nobody's secret. */
    uint8_t waiting[WS_LMS_SIGN_HEIGHT][32];
    uint8_t node[32];
    uint16_t leaves;
    uint16_t leaf;

    if (!is_known(height)) {
        return -1;
    }
    leaves = (uint16_t)(1u << height);
    for (leaf = 0; leaf < leaves; leaf++) {
        uint16_t number = leaves + leaf;
        uint8_t at = 0;

        set_name(work.name, identifier, leaf);
        make_key(&work, seed, node);
        set_name(work.name, identifier, number);
        ws_one_time_begin(&work.hash, work.name, WS_LMS_LEAF);
        ws_sha256_update(&work.hash, node, 32);
        ws_sha256_final(&work.hash, node);
        ws_lms_write_node(tree, number, node);
        /* Section 5.3: the node above is there as soon as its right one is. */
        for (; (number & 1) != 0 && number != 1; at++) {
            number >>= 1;
            set_name(work.name, identifier, number);
            ws_one_time_begin(&work.hash, work.name, WS_LMS_NODE);
            ws_sha256_update(&work.hash, waiting[at], 32);
            ws_sha256_update(&work.hash, node, 32);
            ws_sha256_final(&work.hash, node);
            ws_lms_write_node(tree, number, node);
        }
        if (number != 1) {
            copy(waiting[at], node, 32);
        }
    }
    write_type(public_key, type_of(height));
    write_type(public_key + 4, TYPE);
    copy(public_key + 8, identifier, 16);
    copy(public_key + 24, node, 32);
    ws_wipe(&work, sizeof work);
    return 0;
}

int ws_lms_sign_begin(ws_lms_signing *signing, uint8_t tree, uint8_t height, const uint8_t seed[32], const uint8_t identifier[16],
                      uint32_t leaf, const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len, uint8_t head[WS_LMS_HEAD])
{
    ws_sha256_ctx hash;
    uint16_t sum = 32 * STEPS;
    uint8_t i;

    signing->next = ENDED;
    if (!is_known(height) || leaf >> height != 0) {
        return -1;
    }
    set_name(signing->name, identifier, (uint16_t)leaf);
    copy(signing->seed, seed, 32);
    signing->tree = tree;
    signing->height = height;
    signing->node = (uint16_t)((1u << height) + leaf);
    copy(head, signing->name + 16, 4);
    write_type(head + 4, TYPE);
    copy(head + 8, randomizer, WS_ONE_TIME_RANDOMIZER);
    /* Algorithm 3 steps 5 and 6; the checksum of section 4.4 with ls = 0. */
    ws_one_time_begin(&hash, signing->name, WS_ONE_TIME_MESSAGE);
    ws_sha256_update(&hash, randomizer, WS_ONE_TIME_RANDOMIZER);
    ws_sha256_update(&hash, message, len);
    ws_sha256_final(&hash, signing->digits);
    for (i = 0; i < 32; i++) {
        sum -= signing->digits[i];
    }
    signing->digits[32] = (uint8_t)(sum >> 8);
    signing->digits[33] = (uint8_t)sum;
    signing->next = 0;
    return 0;
}

/* The value of a chain at the step of its digit. */
static void give_value(ws_lms_signing *signing, uint8_t *piece)
{
    const uint8_t digit = signing->digits[signing->next];
    ws_sha256_ctx chain;
    uint8_t step;

    ws_one_time_secret(&chain, signing->name, signing->next, signing->seed);
    for (step = 0; step < digit; step++) {
        ws_one_time_step(&chain, step);
    }
    copy(piece, chain.block + WS_ONE_TIME_VALUE, 32);
    ws_wipe(&chain, sizeof chain);
}

uint8_t ws_lms_sign_next(ws_lms_signing *signing, uint8_t piece[32])
{
    uint8_t count = 32;

    if (signing->next == ENDED) {
        return 0;
    }
    if (signing->next < CHAINS) {
        give_value(signing, piece);
    } else if (signing->next == CHAINS) {
        ws_wipe(signing->seed, sizeof signing->seed);
        write_type(piece, type_of(signing->height));
        count = 4;
    } else {
        ws_lms_read_node(signing->tree, signing->node ^ 1, piece);
        signing->node >>= 1;
    }
    signing->next++;
    if (signing->next == CHAINS + 1 + signing->height) {
        ws_wipe(signing, sizeof *signing);
        signing->next = ENDED;
    }
    return count;
}
