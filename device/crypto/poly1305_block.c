#include "poly1305_block.h"

#define LIMBS WS_LIMBS(16)

void ws_poly1305_block(ws_poly1305_ctx *ctx, const uint8_t in[16], uint8_t end)
{
    ws_limb *const high = ctx->product + LIMBS;
    ws_limb top;
    ws_limb carry = 0;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        ((uint8_t *)ctx->product)[i] = in[i];
    }
    ws_poly1305_add(ctx, ctx->product);
    top = (ws_limb)(ctx->sum[LIMBS] + end);

    /* r is below 2^124, so the product is below 2^256. */
    ws_limbs_multiply(ctx->product, ctx->sum, ctx->factor, LIMBS);
    for (i = 0; i < LIMBS; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)top * ctx->factor[i] + high[i] + carry);

        high[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }

    /* Bits above 130 count five times: once where they are four times as much, and once where they
     * are. */
    for (i = 0; i < LIMBS; i++) {
        ctx->sum[i] = ctx->product[i];
    }
    ctx->sum[LIMBS] = high[0] & 3;
    high[0] &= (ws_limb)~3u;
    ws_poly1305_add(ctx, high);
    for (i = 0; i < LIMBS - 1; i++) {
        high[i] = (ws_limb)((high[i] >> 2) | (ws_limb)(high[i + 1] << (WS_LIMB_BITS - 2)));
    }
    high[i] >>= 2;
    ws_poly1305_add(ctx, high);
}
