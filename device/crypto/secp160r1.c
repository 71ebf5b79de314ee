#include "secp160r1.h"

#include "compiler.h"
#include "number.h"
#include "secp160r1_points.h"
#include "secret.h"

#define CURVE ws_secp160r1
#define BYTES 20
#define KEY_BYTES 21
#define ORDER_BYTES WS_SECP160R1_ORDER_BYTES
#define RANDOM_BYTES 29
#define AGREEMENT_ALONE 0

/* (p + 1) / 4 = 2^158 - 2^29 = (2^129 - 1) 2^29. In between, exponents 2^k - 1, k doubled each time. */
static void root(ws_secp160r1_element *r, const ws_secp160r1_element *a, ws_secp160r1_element *t)
{
    uint8_t k;
    uint8_t i;

    ws_secp160r1_square(r, a);
    ws_secp160r1_multiply(r, r, a);
    for (k = 2; k < 128; k *= 2) {
        ws_secp160r1_square(t, r);
        for (i = 1; i < k; i++) {
            ws_secp160r1_square(t, t);
        }
        ws_secp160r1_multiply(r, r, t);
    }
    ws_secp160r1_square(r, r);
    ws_secp160r1_multiply(r, r, a);
    for (i = 0; i < 29; i++) {
        ws_secp160r1_square(r, r);
    }
}

#include "keys.inc"
