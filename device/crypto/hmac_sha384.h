/* HMAC, FIPS 198-1, with SHA-384.
 *
 * Constant time for given lengths. Stack of the one call: the context. */
#ifndef WS_HMAC_SHA384_H
#define WS_HMAC_SHA384_H

#include "sha384.h"

#include <stddef.h>
#include <stdint.h>

/* A code under way. Its members are the implementation's; they are as secret as the key until
 * ws_hmac_sha384_final wipes them. */
typedef struct {
    ws_sha512_ctx hash;
    /* The outer hash behind its first block. */
    uint32_t outer[16];
} ws_hmac_sha384_ctx;

/* Begins. in: key: key_len bytes, any length (longer than 128 is hashed first), any alignment,
 * anything when its length is 0. out: ctx, not overlapping key. */
void ws_hmac_sha384_init(ws_hmac_sha384_ctx *ctx, const uint8_t *key, size_t key_len);

/* Adds len bytes. in: in, any alignment, anything when len is 0; all together less than 2^61 - 128
 * bytes. in/out: ctx, begun and not finished. */
void ws_hmac_sha384_update(ws_hmac_sha384_ctx *ctx, const uint8_t *in, size_t len);

/* Finishes. in/out: ctx, wiped: begin again before the next use. out: mac, any alignment, outside
 * ctx. */
void ws_hmac_sha384_final(ws_hmac_sha384_ctx *ctx, uint8_t mac[48]);

/* The same in one call.
 *
 * in:  key: key_len bytes; in: len bytes; as above.
 * out: mac; may overlap in and key. */
void ws_hmac_sha384(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len,
                    uint8_t mac[48]);

#endif
