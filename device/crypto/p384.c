#include "p384.h"

#include "compiler.h"
#include "number.h"
#include "p384_points.h"
#include "secret.h"

#define CURVE ws_p384
#define BYTES 48
#define KEY_BYTES 48
#define ORDER_BYTES WS_P384_ORDER_BYTES
#define RANDOM_BYTES 56
#define AGREEMENT_ALONE 0

/* r = a^(2^n) b; r may be a, and not b. */
static void power(ws_p384_element *r, const ws_p384_element *a, uint8_t n, const ws_p384_element *b)
{
    ws_p384_square(r, a);
    while (--n != 0) {
        ws_p384_square(r, r);
    }
    ws_p384_multiply(r, r, b);
}

/* (p + 1) / 4 = 2^382 - 2^126 - 2^94 + 2^30 = (((2^255 - 1) 2^33 + 2^32 - 1) 2^64 + 1) 2^30. In
 * between, exponents 2^k - 1; k goes from 1 to 255 by 2 k + 1. */
static void root(ws_p384_element *r, const ws_p384_element *a, ws_p384_element *t)
{
    ws_p384_element ones_32;
    uint8_t i;

    power(r, a, 1, a);
    power(r, r, 1, a);
    for (i = 3; i != 255; i = (uint8_t)(2 * i + 1)) {
        power(t, r, i, r);
        power(r, t, 1, a);
        if (i == 15) {
            power(&ones_32, r, 1, a);
        }
    }
    power(r, r, 33, &ones_32);
    power(r, r, 64, a);
    for (i = 0; i < 30; i++) {
        ws_p384_square(r, r);
    }
}

#include "keys.inc"
