#include "sha384.h"

#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 5.3.4. */
WS_CONSTANT("ws_sha384_initial")
static const uint32_t initial[16] = {
    0xcbbb9d5d, 0xc1059ed8, 0x629a292a, 0x367cd507, 0x9159015a, 0x3070dd17, 0x152fecd8, 0xf70e5939,
    0x67332667, 0xffc00b31, 0x8eb44a87, 0x68581511, 0xdb0c2e0d, 0x64f98fa7, 0x47b5481d, 0xbefa4fa4,
};

void ws_sha384_init(ws_sha512_ctx *ctx)
{
    uint8_t i;

    ws_sha512_init(ctx);
    for (i = 0; i < 16; i++) {
        ctx->state[i] = ws_table_u32(&initial[i]);
    }
}

void ws_sha384_final(ws_sha512_ctx *ctx, uint8_t digest[48])
{
    uint8_t whole[64];
    uint8_t i;

    ws_sha512_final(ctx, whole);
    for (i = 0; i < 48; i++) {
        digest[i] = whole[i];
    }
    ws_wipe(whole, sizeof whole);
}

void ws_sha384(const uint8_t *in, size_t len, uint8_t digest[48])
{
    ws_sha512_ctx ctx;

    ws_sha384_init(&ctx);
    ws_sha512_update(&ctx, in, len);
    ws_sha384_final(&ctx, digest);
}
