/* HSS: verification of hash-based signatures of several trees, RFC 8554 section 6, with the parameter sets of lms.h; levels may have different ones.
 *
 * A public key is u32str(levels) || the LMS public key of the first tree. A signature is u32str(levels - 1), then for each level but the last the
 * tree's LMS signature of the next public key, and that key, then the last tree's signature of the message. There are up to
 * WS_HSS_LEVELS levels; with one it is a number before LMS's.
 *
 * A key comes behind the signature of it, so that a signature is not taken in order: it lies where the application can read it. The message is
 * taken in pieces of any length:
 *
 *     ws_hss_verify_begin, which verifies all levels but the last
 *     ws_hss_verify_message, as often as there are pieces of the message
 *     ws_hss_verify_end, which says whether the signature is good
 *
 * All of it is public, and the time depends on it: as lms.h for each level. RAM: one ws_hss_verification, beside the frames. */
#ifndef WS_HSS_H
#define WS_HSS_H

#include "lms.h"

#define WS_HSS_PUBLIC_KEY (4 + WS_LMS_PUBLIC_KEY)
#define WS_HSS_LEVELS 8

/* A signature that is being verified. Its members are the implementation's. */
typedef struct {
    ws_lms_verification lms;
    /* Of the level that has been reached, and of the next one. */
    uint8_t public_key[WS_LMS_PUBLIC_KEY];
    uint8_t next_key[WS_LMS_PUBLIC_KEY];
    /* Where its signature goes on behind the head, and how long the whole is. */
    uint32_t place;
    uint32_t len;
    uint8_t is_refused;
} ws_hss_verification;

/* Begins.
 *
 * in:  public_key: any alignment; len: bytes of the signature.
 * out: verification.
 * Returns 0; or -1 where a type is not known, the number of levels is another one or the length, or a level's signature is not good;
 * ws_hss_verify_end refuses then. */
int ws_hss_verify_begin(ws_hss_verification *verification, const uint8_t public_key[WS_HSS_PUBLIC_KEY], uint32_t len);

/* Takes a piece of the message. in: bytes: len of them, anything when len is 0. in/out: verification. */
void ws_hss_verify_message(ws_hss_verification *verification, const uint8_t *bytes, size_t len);

/* Ends. in/out: verification: refused from here on. Returns 0 where the signature is good, else -1. */
int ws_hss_verify_end(ws_hss_verification *verification);

/* The application supplies this: copies bytes of the signature. in: place: of the first, below the length that was given; count: 56 at most, and no
 * more than there are. out: to. The same bytes each time until the end. */
void ws_hss_read_signature(uint32_t place, uint8_t *to, uint8_t count);

#endif
