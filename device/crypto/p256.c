#include "p256.h"

#include "compiler.h"
#include "number.h"
#include "p256_points.h"
#include "secret.h"

#define CURVE ws_p256
#define BYTES 32
#define KEY_BYTES 32
#define ORDER_BYTES WS_P256_ORDER_BYTES
#define RANDOM_BYTES 40
#define AGREEMENT_ALONE 0

/* r = a^(2^n) b; r may be a, and not b. */
static void power(ws_p256_element *r, const ws_p256_element *a, uint8_t n, const ws_p256_element *b)
{
    ws_p256_square(r, a);
    while (--n != 0) {
        ws_p256_square(r, r);
    }
    ws_p256_multiply(r, r, b);
}

/* (p + 1) / 4 = 2^254 - 2^222 + 2^190 + 2^94 = ((2^32 - 1) 2^128 + 2^96 + 1) 2^94. In between, exponents 2^k - 1. */
static void root(ws_p256_element *r, const ws_p256_element *a, ws_p256_element *t)
{
    uint8_t i;

    power(r, a, 1, a);
    power(t, r, 2, r);
    power(r, t, 4, t);
    power(t, r, 8, r);
    power(r, t, 16, t);
    power(r, r, 32, a);
    power(r, r, 96, a);
    for (i = 0; i < 94; i++) {
        ws_p256_square(r, r);
    }
}

#include "keys.inc"
