#include "poly1305.h"

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

/* sum += a number of 16 bytes. */
static void add(ws_poly1305_ctx *ctx, const ws_limb *number)
{
    ctx->sum[LIMBS] = (ws_limb)(ctx->sum[LIMBS] + ws_limbs_add(ctx->sum, ctx->sum, number, LIMBS));
}

/* sum = (sum + block + end 2^128) r modulo 2^130 - 5, not fully reduced. */
static void add_block(ws_poly1305_ctx *ctx, const uint8_t *in, uint8_t end)
{
    ws_limb *const high = ctx->product + LIMBS;
    ws_limb top;
    ws_limb carry = 0;
    uint8_t i;

    read(ctx->product, in);
    add(ctx, ctx->product);
    top = (ws_limb)(ctx->sum[LIMBS] + end);

    /* r is below 2^124, so the product is below 2^256. */
    ws_limbs_multiply(ctx->product, ctx->sum, ctx->factor, LIMBS);
    for (i = 0; i < LIMBS; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)top * ctx->factor[i] + high[i] + carry);

        high[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }

    /* What is above bit 130 counts five times: once where it is four times as much, and once where it is. */
    for (i = 0; i < LIMBS; i++) {
        ctx->sum[i] = ctx->product[i];
    }
    ctx->sum[LIMBS] = high[0] & 3;
    high[0] &= (ws_limb)~3u;
    add(ctx, high);
    for (i = 0; i < LIMBS - 1; i++) {
        high[i] = (ws_limb)((high[i] >> 2) | (ws_limb)(high[i + 1] << (WS_LIMB_BITS - 2)));
    }
    high[i] >>= 2;
    add(ctx, high);
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
            add_block(ctx, in, 1);
            in += 16;
            len -= 16;
            continue;
        }
        ctx->block[ctx->used++] = *in++;
        len--;
        if (ctx->used == 16) {
            add_block(ctx, ctx->block, 1);
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
        add_block(ctx, ctx->block, 0);
    }
    /* Once more what is above bit 130, five times; then the sum is below 2^130 + 10. */
    for (i = 1; i < LIMBS; i++) {
        ctx->product[i] = 0;
    }
    ctx->product[0] = (ws_limb)(5 * (ctx->sum[LIMBS] >> 2));
    ctx->sum[LIMBS] &= 3;
    add(ctx, ctx->product);
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
