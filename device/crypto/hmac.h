/* HMAC, FIPS 198-1, with SHA-256.
 *
 * Constant time for given lengths. Stack of the one call: the context. */
#ifndef WS_HMAC_H
#define WS_HMAC_H

#include "sha256.h"

#include <stddef.h>
#include <stdint.h>

/* A code under way. Its members are the implementation's; they are as secret as the key until ws_hmac_sha256_final wipes
 * them. */
typedef struct {
    ws_sha256_ctx hash;
    /* The outer hash behind its first block. */
    uint32_t outer[8];
} ws_hmac_sha256_ctx;

/* Begins. in: key: key_len bytes, any length (longer than 64 is hashed first), any alignment, anything when its length is
 * 0. out: ctx, not overlapping key. */
void ws_hmac_sha256_init(ws_hmac_sha256_ctx *ctx, const uint8_t *key, size_t key_len);

/* Adds len bytes. in: in, any alignment, anything when len is 0; all together less than 2^61 - 64 bytes. in/out: ctx,
 * begun and not finished. */
void ws_hmac_sha256_update(ws_hmac_sha256_ctx *ctx, const uint8_t *in, size_t len);

/* Finishes. in/out: ctx, wiped: begin again before the next use. out: mac, any alignment, outside ctx. */
void ws_hmac_sha256_final(ws_hmac_sha256_ctx *ctx, uint8_t mac[32]);

/* The same in one call.
 *
 * in:  key: key_len bytes; in: len bytes; as above.
 * out: mac; may overlap in and key. */
void ws_hmac_sha256(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len, uint8_t mac[32]);

#endif
