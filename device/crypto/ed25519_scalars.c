#include "ed25519_scalars.h"

#include "compiler.h"
#include "sha512.h"

#define LIMBS WS_LIMBS(32)

/* 2^252 + 27742317777372353535851937790883648493, and 2^512 modulo it. */
WS_ALIGNED static const ws_limb order[LIMBS] = {
    WS_WORD(0x5cf5d3ed), WS_WORD(0x5812631a), WS_WORD(0xa2f79cd6), WS_WORD(0x14def9de),
    WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0x10000000),
};

WS_ALIGNED static const ws_limb r_squared[LIMBS] = {
    WS_WORD(0x449c0f01), WS_WORD(0xa40611e3), WS_WORD(0x68859347), WS_WORD(0xd00e1ba7),
    WS_WORD(0x17f5be65), WS_WORD(0xceec73d2), WS_WORD(0x7c309a3d), WS_WORD(0x0399411b),
};

const ws_modulus ws_ed25519_order = {32, 253, order, r_squared, 0x12547e1b};

void ws_ed25519_reduce(ws_ed25519_wide *number)
{
    ws_limb *const low = number->limbs;
    ws_limb *const high = number->limbs + LIMBS;
    uint8_t i;

    /* R is 2^256. (low + high R) R, and Montgomery's product of that and 1. */
    ws_modular_multiply(high, high, r_squared, &ws_ed25519_order);
    ws_modular_multiply(low, low, r_squared, &ws_ed25519_order);
    ws_modular_multiply(high, high, r_squared, &ws_ed25519_order);
    ws_modular_add(low, low, high, &ws_ed25519_order);
    high[0] = 1;
    for (i = 1; i < LIMBS; i++) {
        high[i] = 0;
    }
    ws_modular_multiply(low, low, high, &ws_ed25519_order);
}

void ws_ed25519_hash(ws_ed25519_wide *number, const uint8_t *first, const uint8_t *second, const uint8_t *message, size_t len)
{
    ws_sha512_ctx hash;

    ws_sha512_init(&hash);
    ws_sha512_update(&hash, first, 32);
    if (second != 0) {
        ws_sha512_update(&hash, second, 32);
    }
    ws_sha512_update(&hash, message, len);
    ws_sha512_final(&hash, number->bytes);
    ws_ed25519_reduce(number);
}
