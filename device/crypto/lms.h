/* LMS: verification of hash-based signatures, RFC 8554 sections 4 and 5, of which SP 800-208 section 4 approves the parameter sets here:
 * LMOTS_SHA256_N32_W1, W2, W4 and W8 with LMS_SHA256_M32_H5, H10, H15, H20 and H25.
 *
 * A public key is u32str(type of the tree) || u32str(type of its one-time signatures) || I || T[1]. A signature is q || u32str(type of
 * the one-time signature) || C, which is its head, y[0] || y[1] || ..., u32str(type of the tree) and the nodes beside the way from
 * the leaf to the root: 1,292 bytes with W8 and H5, 8,684 with W1 and H5. A multi-tree signature (HSS, section 6) is several, each
 * of which signs the next public key: hss.h.
 *
 * Message and signature are taken in pieces of any length, as they come by radio or out of flash:
 *
 *     ws_lms_verify_begin with the head
 *     ws_lms_verify_message, as often as there are pieces of the message
 *     ws_lms_verify_signature, as often as there are pieces of what follows the head
 *     ws_lms_verify_end, which says whether the signature is good
 *
 * All of it is public, and the time depends on it: with W8 some 4,450 blocks are hashed for the one-time signature, two for each
 * node, and those of the message. RAM: one ws_lms_verification, beside the frames. */
#ifndef WS_LMS_H
#define WS_LMS_H

#include "one_time.h"

#define WS_LMS_PUBLIC_KEY 56
/* T[1], with which it ends. */
#define WS_LMS_ROOT 32
/* D_LEAF and D_INTR of section 3.1: the kinds of the tree's hashes. */
#define WS_LMS_LEAF 0x8282
#define WS_LMS_NODE 0x8383

/* What a signature begins with. */
#define WS_LMS_HEAD 40
/* A whole one with LMOTS_SHA256_N32_W8 and LMS_SHA256_M32_H5. */
#define WS_LMS_SIGNATURE_W8_H5 (WS_LMS_HEAD + 34 * 32 + 4 + 5 * 32)

/* Bytes of a signature of a public key, 9,324 at most; 0 where a type is none of those above. in: public_key: any bytes. */
uint16_t ws_lms_signature_bytes(const uint8_t public_key[WS_LMS_PUBLIC_KEY]);

/* A signature that is being verified. Its members are the implementation's. */
typedef struct {
    /* I, and q, then the number of the node that has been reached. */
    uint8_t name[WS_ONE_TIME_NAME];
    /* Q and its checksum; then the node that has been reached. */
    uint8_t value[34];
    /* Of a digit of Q: 2^shift bits. */
    uint8_t shift;
    /* The last byte of the tree's type, and its height. */
    uint8_t type;
    uint8_t height;
    /* Bytes of the next value that are there, and its number: those of the one-time signature, the type, the nodes. */
    uint8_t filled;
    uint16_t values;
    uint8_t state;
    /* The next value is in its block. */
    ws_sha256_ctx chain;
    ws_sha256_ctx hash;
} ws_lms_verification;

/* Begins.
 *
 * in:  public_key; head: the signature's first WS_LMS_HEAD bytes; any alignment.
 * out: verification.
 * Returns 0, or -1 where a type is none of those above, the signature's is not the key's, or the tree has no such leaf;
 * ws_lms_verify_end refuses then. */
int ws_lms_verify_begin(ws_lms_verification *verification, const uint8_t public_key[WS_LMS_PUBLIC_KEY],
                        const uint8_t head[WS_LMS_HEAD]);

/* Takes a piece of the message. in: bytes: len of them, anything when len is 0. in/out: verification, of whose signature nothing was
 * taken: after that the end refuses. */
void ws_lms_verify_message(ws_lms_verification *verification, const uint8_t *bytes, size_t len);

/* Takes a piece of what follows the head. in: bytes: len of them, anything when len is 0. in/out: verification. What is too much makes
 * the end refuse. */
void ws_lms_verify_signature(ws_lms_verification *verification, const uint8_t *bytes, size_t len);

/* The root that message and signature lead to, WS_LMS_ROOT bytes, where the signature was there
 * whole: for a comparison beside that of ws_lms_verify_end, against faults. */
const uint8_t *ws_lms_verify_root(const ws_lms_verification *verification);

/* Ends.
 *
 * in:     public_key: the one given at the beginning.
 * in/out: verification: refused from here on.
 * Returns 0 where the signature was there whole and is good, else -1. */
int ws_lms_verify_end(ws_lms_verification *verification, const uint8_t public_key[WS_LMS_PUBLIC_KEY]);

#endif
