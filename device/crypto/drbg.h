/* Random bytes: HMAC_DRBG with SHA-256, NIST SP 800-90A Rev. 1 section 10.1.2, security strength 256 bits.
 *
 * Where its seed comes from: entropy.h, and seed.h across restarts. Constant time for given lengths. Stack: one HMAC
 * context, beside the frames. */
#ifndef WS_DRBG_H
#define WS_DRBG_H

#include "hmac_drbg.h"

#include <stddef.h>
#include <stdint.h>

/* Entropy of the security strength and a nonce of half of it: sections 8.6.3, 8.6.7. */
#define WS_DRBG_SEED_BYTES 48
#define WS_DRBG_ENTROPY_BYTES 32

/* Table 2: the longest request, and the requests between two seeds; the standard allows 2^48 of them. */
#define WS_DRBG_REQUEST_BYTES 65536
#define WS_DRBG_RESEED_INTERVAL 0x80000000

/* A generator. Its members are the implementation's, and secrets; ws_wipe ends it. All zeros is one that has no seed: it
 * gives nothing. */
typedef struct {
    ws_hmac_drbg_sha256 state;
    /* The number of the next request, 1 after a seed; 0 without one. */
    uint32_t request;
} ws_drbg;

/* Begins anew from a seed.
 *
 * in:  seed: len bytes, at least WS_DRBG_SEED_BYTES: entropy input of 256 bits, a nonce of 128 (it may be entropy, too),
 *      and a personalization string of any length, joined.
 * out: drbg, not overlapping seed.
 * Returns 0, or -1 when the seed is too short; drbg has no seed then. */
int ws_drbg_instantiate(ws_drbg *drbg, const uint8_t *seed, size_t len);

/* The same from a seed in count pieces, their lengths together as above; outside drbg. */
int ws_drbg_instantiate_pieces(ws_drbg *drbg, const ws_piece *seed, uint8_t count);

/* Mixes new entropy in, and counts anew.
 *
 * in:     entropy: entropy_len bytes, at least WS_DRBG_ENTROPY_BYTES; additional: additional_len bytes, anything when that
 *         is 0. Neither overlaps drbg.
 * in/out: drbg.
 * Returns 0, or -1, and drbg as it was, when the entropy is too short or drbg has no seed. */
int ws_drbg_reseed(ws_drbg *drbg, const uint8_t *entropy, size_t entropy_len, const uint8_t *additional,
                   size_t additional_len);

/* Draws len random bytes.
 *
 * in:     additional: additional_len bytes, anything when that is 0; outside drbg and out.
 * in/out: drbg.
 * out:    out: outside drbg.
 * Returns 0, or -1, out zeroed, when drbg has no seed, WS_DRBG_RESEED_INTERVAL requests were served since the last one, or
 * len is beyond WS_DRBG_REQUEST_BYTES. */
int ws_drbg_generate(ws_drbg *drbg, uint8_t *out, size_t len, const uint8_t *additional, size_t additional_len);

#endif
