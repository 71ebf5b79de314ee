#include "x25519_powers.h"

typedef ws_x25519_element element;

/* r = a^(2^times). */
static void square(element *r, const element *a, uint8_t times)
{
    for (; times != 0; times--) {
        ws_x25519_square(r, a);
        a = r;
    }
}

/* a = z^11 and d = z^(2^250 - 1). */
static void power(const element *z, element *a, element *b, element *c, element *d)
{
    /* a = z^11, b = z^(2^5 - 1). */
    square(a, z, 1);
    square(b, a, 2);
    ws_x25519_multiply(b, b, z);
    ws_x25519_multiply(a, a, b);
    square(c, a, 1);
    ws_x25519_multiply(b, c, b);
    /* b, c, d = z^(2^10 - 1), z^(2^20 - 1), z^(2^40 - 1). */
    square(c, b, 5);
    ws_x25519_multiply(b, c, b);
    square(c, b, 10);
    ws_x25519_multiply(c, c, b);
    square(d, c, 20);
    ws_x25519_multiply(d, d, c);
    /* b, c, d = z^(2^50 - 1), z^(2^100 - 1), z^(2^200 - 1). */
    square(d, d, 10);
    ws_x25519_multiply(b, d, b);
    square(c, b, 50);
    ws_x25519_multiply(c, c, b);
    square(d, c, 100);
    ws_x25519_multiply(d, d, c);
    square(d, d, 50);
    ws_x25519_multiply(d, d, b);
}

void ws_x25519_invert(element *z, element *a, element *b, element *c, element *d)
{
    /* p - 2 = 2^255 - 32 + 11. */
    power(z, a, b, c, d);
    square(d, d, 5);
    ws_x25519_multiply(z, d, a);
}

void ws_x25519_root_power(element *z, element *a, element *b, element *c, element *d)
{
    /* (p - 5) / 8 = 2^252 - 4 + 1. */
    power(z, a, b, c, d);
    square(d, d, 2);
    ws_x25519_multiply(z, d, z);
}
