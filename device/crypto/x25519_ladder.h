/* Montgomery's ladder on Curve25519 (RFC 7748 section 5): what x25519.h is made of. */
#ifndef WS_X25519_LADDER_H
#define WS_X25519_LADDER_H

#include "x25519_field.h"

#include <stdint.h>

/* A point's x, two multiples of it that differ by the point, and what is destroyed by every step.
 * */
typedef struct {
    ws_x25519_element x1;
    ws_x25519_element x2;
    ws_x25519_element z2;
    ws_x25519_element x3;
    ws_x25519_element z3;
    ws_x25519_element a;
    ws_x25519_element b;
} ws_x25519_ladder;

/* x2 / z2 of the scalar's multiple of the point.
 *
 * in:  x1: x of the point; (x2, z2) = (1, 0), (x3, z3) = (x1, 1); scalar: little-endian, any
 *      alignment, even, below 2^255.
 * out: x2, z2; x3, z3, a, b are destroyed.
 * Constant time. A kernel replaces x25519_ladder.c, which is this function. */
void ws_x25519_ladder_climb(ws_x25519_ladder *ladder, const uint8_t scalar[32]);

#endif
