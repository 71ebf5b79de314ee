#include "ascon_hash.h"

#include "ascon_permutation.h"
#include "secret.h"

#define RATE 8
#define ROUNDS 12

/* Begins with an initial value of table 14, of which the upper half is its second word. */
static void begin(ws_ascon_ctx *ctx, uint32_t low, uint32_t high)
{
    uint8_t i;

    ctx->state[0] = low;
    ctx->state[1] = high;
    for (i = 2; i < 10; i++) {
        ctx->state[i] = 0;
    }
    ws_ascon_permute(ctx->state, ROUNDS);
    ctx->used = 0;
    ctx->squeezing = 0;
}

void ws_ascon_hash256_init(ws_ascon_ctx *ctx)
{
    begin(ctx, 0x00cc0002, 0x00000801);
}

void ws_ascon_xof128_init(ws_ascon_ctx *ctx)
{
    begin(ctx, 0x00cc0003, 0x00000800);
}

/* Ends the string or message absorbed so far. */
static void pad(ws_ascon_ctx *ctx)
{
    ws_ascon_pad(ctx->state, ctx->used);
    ws_ascon_permute(ctx->state, ROUNDS);
    ctx->used = 0;
}

int ws_ascon_cxof128_init(ws_ascon_ctx *ctx, const uint8_t *label, size_t len)
{
    if (len > 256) {
        return -1;
    }
    begin(ctx, 0x00cc0004, 0x00000800);
    /* Section 5.3: the string's length in bits, a block of its own, and the string padded to whole blocks. */
    ctx->state[0] ^= (uint32_t)len << 3;
    ws_ascon_permute(ctx->state, ROUNDS);
    ws_ascon_absorb(ctx, label, len);
    pad(ctx);
    return 0;
}

void ws_ascon_absorb(ws_ascon_ctx *ctx, const uint8_t *in, size_t len)
{
    while (len != 0) {
        if (ctx->used == 0 && len >= RATE) {
            ws_ascon_xor(ctx->state, in, RATE);
            in += RATE;
            len -= RATE;
            ws_ascon_permute(ctx->state, ROUNDS);
            continue;
        }
        ctx->state[ctx->used >> 2] ^= (uint32_t)*in++ << (uint8_t)(8 * (ctx->used & 3));
        len--;
        if (++ctx->used == RATE) {
            ws_ascon_permute(ctx->state, ROUNDS);
            ctx->used = 0;
        }
    }
}

void ws_ascon_squeeze(ws_ascon_ctx *ctx, uint8_t *out, size_t len)
{
    if (!ctx->squeezing) {
        ctx->squeezing = 1;
        pad(ctx);
    }
    while (len != 0) {
        if (ctx->used == RATE) {
            ws_ascon_permute(ctx->state, ROUNDS);
            ctx->used = 0;
        }
        if (ctx->used == 0 && len >= RATE) {
            ws_ascon_extract(ctx->state, out, RATE);
            ctx->used = RATE;
            out += RATE;
            len -= RATE;
            continue;
        }
        *out++ = (uint8_t)(ctx->state[ctx->used >> 2] >> (uint8_t)(8 * (ctx->used & 3)));
        ctx->used++;
        len--;
    }
}

void ws_ascon_hash256(const uint8_t *in, size_t len, uint8_t digest[32])
{
    ws_ascon_ctx ctx;

    ws_ascon_hash256_init(&ctx);
    ws_ascon_absorb(&ctx, in, len);
    ws_ascon_squeeze(&ctx, digest, 32);
    ws_wipe(&ctx, sizeof ctx);
}
