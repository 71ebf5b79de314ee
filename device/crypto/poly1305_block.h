/* The step of Poly1305 that takes its time: private to poly1305*.c. */
#ifndef WS_POLY1305_BLOCK_H
#define WS_POLY1305_BLOCK_H

#include "compiler.h"
#include "poly1305.h"

/* sum = (sum + block + end 2^128) r modulo 2^130 - 5, not fully reduced: what a kernel replaces.
 *
 * in:     in: the block, any alignment; end: 0 or 1.
 * in/out: ctx: factor and sum, which is below 2^131; product is scratch.
 * Constant time. */
void ws_poly1305_block(ws_poly1305_ctx *ctx, const uint8_t in[16], uint8_t end);

/* sum += a number of 16 bytes. */
WS_INLINE void ws_poly1305_add(ws_poly1305_ctx *ctx, const ws_limb *number)
{
    const uint8_t n = WS_LIMBS(16);

    ctx->sum[n] = (ws_limb)(ctx->sum[n] + ws_limbs_add(ctx->sum, ctx->sum, number, n));
}

#endif
