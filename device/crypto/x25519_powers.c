#include "x25519_powers.h"

#include "x25519_squares.h"

typedef ws_x25519_element element;

/* a = z^11 and d = z^(2^250 - 1). */
static void power(const element *z, element *a, element *b, element *c, element *d)
{
    /* a = z^11, b = z^(2^5 - 1). */
    ws_x25519_square_often(a, z, 1);
    ws_x25519_square_often(b, a, 2);
    ws_x25519_multiply(b, b, z);
    ws_x25519_multiply(a, a, b);
    ws_x25519_square_often(c, a, 1);
    ws_x25519_multiply(b, c, b);
    /* b, c, d = z^(2^10 - 1), z^(2^20 - 1), z^(2^40 - 1). */
    ws_x25519_square_often(c, b, 5);
    ws_x25519_multiply(b, c, b);
    ws_x25519_square_often(c, b, 10);
    ws_x25519_multiply(c, c, b);
    ws_x25519_square_often(d, c, 20);
    ws_x25519_multiply(d, d, c);
    /* b, c, d = z^(2^50 - 1), z^(2^100 - 1), z^(2^200 - 1). */
    ws_x25519_square_often(d, d, 10);
    ws_x25519_multiply(b, d, b);
    ws_x25519_square_often(c, b, 50);
    ws_x25519_multiply(c, c, b);
    ws_x25519_square_often(d, c, 100);
    ws_x25519_multiply(d, d, c);
    ws_x25519_square_often(d, d, 50);
    ws_x25519_multiply(d, d, b);
}

void ws_x25519_invert(element *z, element *a, element *b, element *c, element *d)
{
    /* p - 2 = 2^255 - 32 + 11. */
    power(z, a, b, c, d);
    ws_x25519_square_often(d, d, 5);
    ws_x25519_multiply(z, d, a);
}

void ws_x25519_root_power(element *z, element *a, element *b, element *c, element *d)
{
    /* (p - 5) / 8 = 2^252 - 4 + 1. */
    power(z, a, b, c, d);
    ws_x25519_square_often(d, d, 2);
    ws_x25519_multiply(z, d, z);
}
