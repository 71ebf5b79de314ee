#include "sha256.h"

#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 5.3.3. */
WS_CONSTANT("ws_sha256_initial")
static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

void ws_sha256_init(ws_sha256_ctx *ctx)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        ctx->state[i] = ws_table_u32(&initial[i]);
    }
    ctx->length[0] = 0;
    ctx->length[1] = 0;
}

void ws_sha256_update(ws_sha256_ctx *ctx, const uint8_t *in, size_t len)
{
    uint8_t used = (uint8_t)ctx->length[0] & 63;
    uint32_t low = ctx->length[0] + (uint32_t)len;

    ctx->length[1] += low < ctx->length[0];
#if SIZE_MAX > 0xffffffff
    ctx->length[1] += (uint32_t)(len >> 32);
#endif
    ctx->length[0] = low;

    if (used != 0) {
        while (used < 64 && len != 0) {
            ctx->block[used++] = *in++;
            len--;
        }
        if (used < 64) {
            return;
        }
        ws_sha256_blocks(ctx->state, ctx->block, 1);
    }
    if (len >= 64) {
        size_t blocks = len / 64;

        ws_sha256_blocks(ctx->state, in, blocks);
        in += 64 * blocks;
        len &= 63;
    }
    for (used = 0; used < len; used++) {
        ctx->block[used] = in[used];
    }
}

void ws_sha256_final(ws_sha256_ctx *ctx, uint8_t digest[32])
{
    uint8_t used = (uint8_t)ctx->length[0] & 63;
    uint32_t bits;
    uint8_t i;

    ctx->block[used++] = 0x80;
    if (used > 56) {
        while (used < 64) {
            ctx->block[used++] = 0;
        }
        ws_sha256_blocks(ctx->state, ctx->block, 1);
        used = 0;
    }
    while (used < 56) {
        ctx->block[used++] = 0;
    }
    /* Section 5.1.1: the length in bits, 64 bits big-endian. */
    bits = (ctx->length[1] << 3) | (ctx->length[0] >> 29);
    for (i = 60; i-- != 56;) {
        ctx->block[i] = (uint8_t)bits;
        bits >>= 8;
    }
    bits = ctx->length[0] << 3;
    for (i = 64; i-- != 60;) {
        ctx->block[i] = (uint8_t)bits;
        bits >>= 8;
    }
    ws_sha256_blocks(ctx->state, ctx->block, 1);

    for (i = 0; i < 8; i++) {
        uint32_t word = ctx->state[i];

        *digest++ = (uint8_t)(word >> 24);
        *digest++ = (uint8_t)(word >> 16);
        *digest++ = (uint8_t)(word >> 8);
        *digest++ = (uint8_t)word;
    }
    ws_wipe(ctx, sizeof *ctx);
}

void ws_sha256(const uint8_t *in, size_t len, uint8_t digest[32])
{
    ws_sha256_ctx ctx;

    ws_sha256_init(&ctx);
    ws_sha256_update(&ctx, in, len);
    ws_sha256_final(&ctx, digest);
}
