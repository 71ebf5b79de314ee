#include "sha3.h"

#include "compiler.h"
#include "keccak_permutation.h"
#include "secret.h"

void ws_sha3_init(ws_sha3_ctx *ctx, uint8_t rate)
{
    uint8_t i;

    for (i = 0; i < 50; i++) {
        ctx->state[i] = 0;
    }
    ctx->rate = rate;
    ctx->used = 0;
}

/* Of len bytes, how many go into what is left of the block, or come out of it. A block that is full, or given out, is permuted
 * first. */
static uint8_t room(ws_sha3_ctx *ctx, size_t len)
{
    uint8_t left;

    if (ctx->used == ctx->rate) {
        ws_keccak_permute(ctx->state);
        ctx->used = 0;
    }
    left = ctx->rate - ctx->used;
    return len < left ? (uint8_t)len : left;
}

void ws_sha3_absorb(ws_sha3_ctx *ctx, const uint8_t *in, size_t len)
{
    while (len != 0) {
        uint8_t n = room(ctx, len);

        ws_keccak_xor(ctx->state, ctx->used, in, n);
        ctx->used += n;
        in += n;
        len -= n;
    }
}

void ws_sha3_finish(ws_sha3_ctx *ctx, uint8_t suffix)
{
#if WS_FIXED_FRAMES && WS_SPILLS
    static const uint8_t nothing[8] = {0};
#endif
    const uint8_t last = 0x80;

    /* Section 5.1: the last bit of the padding is the block's last, in the same byte or a later one. */
    room(ctx, 0);
    ws_keccak_xor(ctx->state, ctx->used, &suffix, 1);
    ws_keccak_xor(ctx->state, ctx->rate - 1, &last, 1);
#if WS_FIXED_FRAMES && WS_SPILLS
    /* The variables that sdcc takes whole lanes in hold the message's last one until the next is taken. */
    ws_keccak_xor(ctx->state, 0, nothing, sizeof nothing);
#endif
    ctx->used = ctx->rate;
}

void ws_sha3_squeeze(ws_sha3_ctx *ctx, uint8_t *out, size_t len)
{
    while (len != 0) {
        uint8_t n = room(ctx, len);

        ws_keccak_extract(ctx->state, ctx->used, out, n);
        ctx->used += n;
        out += n;
        len -= n;
    }
}

/* A message of len bytes at once, and out_len bytes of output. */
static void hash(uint8_t rate, uint8_t suffix, const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
    ws_sha3_ctx ctx;

    ws_sha3_init(&ctx, rate);
    ws_sha3_absorb(&ctx, in, len);
    ws_sha3_finish(&ctx, suffix);
    ws_sha3_squeeze(&ctx, out, out_len);
    ws_wipe(&ctx, sizeof ctx);
}

void ws_sha3_256(const uint8_t *in, size_t len, uint8_t digest[32])
{
    hash(WS_SHA3_256_RATE, WS_SHA3_SUFFIX, in, len, digest, 32);
}

void ws_sha3_512(const uint8_t *in, size_t len, uint8_t digest[64])
{
    hash(WS_SHA3_512_RATE, WS_SHA3_SUFFIX, in, len, digest, 64);
}

void ws_shake128(const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
    hash(WS_SHAKE128_RATE, WS_SHAKE_SUFFIX, in, len, out, out_len);
}

void ws_shake256(const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
    hash(WS_SHAKE256_RATE, WS_SHAKE_SUFFIX, in, len, out, out_len);
}
