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
    ws_two_limbs carry;
    uint8_t byte;
    uint8_t i;

    if (ctx->used != 0) {
        ctx->block[ctx->used++] = 1;
        while (ctx->used < 16) {
            ctx->block[ctx->used++] = 0;
        }
        ws_poly1305_block(ctx, ctx->block, 0);
    }
    /* The sum h is below 2^131. It has the modulus floor((h + 5 + 5 floor(h / 2^130)) / 2^130) times
     * in it, and its residue is h and 5 for each time, below bit 130. */
    carry = (ws_two_limbs)(5 + 5 * (ctx->sum[LIMBS] >> 2));
    for (i = 0; i < LIMBS; i++) {
        carry = (ws_two_limbs)((ws_two_limbs)(carry + ctx->sum[i]) >> WS_LIMB_BITS);
    }
    carry = (ws_two_limbs)(5 * ((ctx->sum[LIMBS] + carry) >> 2));
    for (i = 0; i < LIMBS; i++) {
        carry = (ws_two_limbs)(carry + ctx->sum[i] + ctx->added[i]);
        for (byte = 0; byte < sizeof(ws_limb); byte++) {
            *tag++ = (uint8_t)(carry >> (8 * byte));
        }
        carry >>= WS_LIMB_BITS;
    }
    ws_wipe(ctx, sizeof *ctx);
}
