#include "x25519_ladder.h"

/* A step of RFC 7748 section 5: (x2, z2) is doubled, and (x3, z3) becomes the sum of both. */
static void step(ws_x25519_ladder *l)
{
    ws_x25519_add(&l->a, &l->x2, &l->z2);
    ws_x25519_subtract(&l->x2, &l->x2, &l->z2);
    ws_x25519_add(&l->b, &l->x3, &l->z3);
    ws_x25519_subtract(&l->x3, &l->x3, &l->z3);
    /* Now A, B, C, D are in a, x2, b, x3. */
    ws_x25519_multiply(&l->x3, &l->x3, &l->a);
    ws_x25519_multiply(&l->b, &l->b, &l->x2);
    ws_x25519_add(&l->z3, &l->x3, &l->b);
    ws_x25519_subtract(&l->b, &l->x3, &l->b);
    ws_x25519_square(&l->x3, &l->z3);
    ws_x25519_square(&l->b, &l->b);
    ws_x25519_multiply(&l->z3, &l->b, &l->x1);
    /* AA and BB; E is their difference. */
    ws_x25519_square(&l->a, &l->a);
    ws_x25519_square(&l->b, &l->x2);
    ws_x25519_multiply(&l->x2, &l->a, &l->b);
    ws_x25519_subtract(&l->b, &l->a, &l->b);
    ws_x25519_multiply_121665(&l->z2, &l->b);
    ws_x25519_add(&l->z2, &l->z2, &l->a);
    ws_x25519_multiply(&l->z2, &l->z2, &l->b);
}

void ws_x25519_ladder_climb(ws_x25519_ladder *l, const uint8_t scalar[32])
{
    uint8_t swap = 0;
    uint8_t i = 255;

    /* Bit 255 is 0, and a step before the first one of the scalar leaves the neutral point what it
     * is. */
    do {
        const uint8_t next = (uint8_t)(scalar[i >> 3] >> (i & 7)) & 1;

        ws_x25519_exchange(&l->x2, &l->x3, swap ^ next);
        ws_x25519_exchange(&l->z2, &l->z3, swap ^ next);
        swap = next;
        step(l);
    } while (i-- != 0);
}
