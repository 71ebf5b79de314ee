/* Poly1305, RFC 8439 section 2.5: a one-time authenticator. Two messages under one key give the key away.
 *
 * Constant time for given lengths: products are formed by limb.h alone. RAM: none. */
#ifndef WS_POLY1305_H
#define WS_POLY1305_H

#include "compiler.h"
#include "limb.h"

#include <stddef.h>
#include <stdint.h>

/* An authenticator under way. Its members are the implementation's; it holds the key: wipe it (secret.h), which
 * ws_poly1305_finish does. */
typedef struct {
    /* r and s of the key, first. */
    WS_ALIGNED ws_limb factor[WS_LIMBS(16)];
    ws_limb added[WS_LIMBS(16)];
    /* Of the blocks so far, below 2^131. */
    ws_limb sum[WS_LIMBS(16) + 1];
    ws_limb product[2 * WS_LIMBS(16)];
    uint8_t block[16];
    /* Bytes in block. */
    uint8_t used;
} ws_poly1305_ctx;

/* Begins. in: key: r and s, any alignment; may be the first 32 bytes of ctx. out: ctx. */
void ws_poly1305_init(ws_poly1305_ctx *ctx, const uint8_t key[32]);

/* Adds len bytes to the message. in: in, any alignment, anything when len is 0. in/out: ctx. */
void ws_poly1305_absorb(ws_poly1305_ctx *ctx, const uint8_t *in, size_t len);

/* Adds zeros up to a whole block; none where it is whole. in/out: ctx. */
void ws_poly1305_fill(ws_poly1305_ctx *ctx);

/* Ends. out: tag, outside ctx; ctx is wiped. */
void ws_poly1305_finish(ws_poly1305_ctx *ctx, uint8_t tag[16]);

#endif
