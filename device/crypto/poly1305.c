#include "poly1305.h"

#include "poly1305_block.h"
#include "secret.h"

#define LIMBS WS_LIMBS(16)

/* A number's limbs are its bytes, the lowest first (limb.h). */
static void read(ws_limb *number, const uint8_t *in)
{
    uint8_t *bytes = (uint8_t *)number;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        bytes[i] = in[i];
    }
}

void ws_poly1305_init(ws_poly1305_ctx *ctx, const uint8_t key[32])
{
    uint8_t *factor = (uint8_t *)ctx->factor;
    uint8_t i;

    read(ctx->factor, key);
    read(ctx->added, key + 16);
    for (i = 3; i < 16; i += 4) {
        factor[i] &= 15;
    }
    for (i = 4; i < 16; i += 4) {
        factor[i] &= 252;
    }
    for (i = 0; i <= LIMBS; i++) {
        ctx->sum[i] = 0;
    }
    ctx->used = 0;
}

void ws_poly1305_absorb(ws_poly1305_ctx *ctx, const uint8_t *in, size_t len)
{
    while (len != 0) {
        if (ctx->used == 0 && len >= 16) {
            ws_poly1305_block(ctx, in, 1);
            in += 16;
            len -= 16;
            continue;
        }
        ctx->block[ctx->used++] = *in++;
        len--;
        if (ctx->used == 16) {
            ws_poly1305_block(ctx, ctx->block, 1);
            ctx->used = 0;
        }
    }
}

void ws_poly1305_fill(ws_poly1305_ctx *ctx)
{
    static const uint8_t zero = 0;

    while (ctx->used != 0) {
        ws_poly1305_absorb(ctx, &zero, 1);
    }
}

void ws_poly1305_finish(ws_poly1305_ctx *ctx, uint8_t tag[16])
{
    const uint8_t *bytes = (const uint8_t *)ctx->sum;
    uint8_t i;

    if (ctx->used != 0) {
        ctx->block[ctx->used++] = 1;
        while (ctx->used < 16) {
            ctx->block[ctx->used++] = 0;
        }
        ws_poly1305_block(ctx, ctx->block, 0);
    }
    /* Once more the bits above 130, five times; then the sum is below 2^130 + 10. */
    for (i = 1; i < LIMBS; i++) {
        ctx->product[i] = 0;
    }
    ctx->product[0] = (ws_limb)(5 * (ctx->sum[LIMBS] >> 2));
    ctx->sum[LIMBS] &= 3;
    ws_poly1305_add(ctx, ctx->product);
    /* The sum, and 5 more: where that reaches 2^130 the sum was 2^130 - 5 or more, and its residue is what is below that bit. */
    ctx->product[0] = 5;
    ctx->product[LIMBS] = (ws_limb)(ctx->sum[LIMBS] + ws_limbs_add(ctx->product, ctx->product, ctx->sum, LIMBS));
    ws_limbs_choose(ctx->sum, ctx->product, ctx->sum, (ws_limb)(ctx->product[LIMBS] >> 2), LIMBS);
    (void)ws_limbs_add(ctx->sum, ctx->sum, ctx->added, LIMBS);
    for (i = 0; i < 16; i++) {
        tag[i] = bytes[i];
    }
    ws_wipe(ctx, sizeof *ctx);
}
