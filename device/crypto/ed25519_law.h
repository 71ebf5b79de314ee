/* The law of addition on the curve -x^2 + y^2 = 1 + d x^2 y^2 modulo 2^255 - 19 (RFC 8032 section
 * 5.1).
 *
 * A point is x / z, y / z of its coordinates, with x y / z in t (extended coordinates). The law of
 * section 5.1.4 is right for every two points, the same, opposite or neutral, as d is no square
 * (section 5.1: complete). */
#ifndef WS_ED25519_LAW_H
#define WS_ED25519_LAW_H

#include "x25519_field.h"

#include <stdint.h>

typedef struct {
    ws_x25519_element x;
    ws_x25519_element y;
    ws_x25519_element z;
    ws_x25519_element t;
} ws_ed25519_point;

/* What a point is added as: y - x, y + x, 2 d t and 2 z. */
#define WS_ED25519_DIFFERENCE 0
#define WS_ED25519_SUM 1
#define WS_ED25519_PRODUCT 2
#define WS_ED25519_TWICE 3

/* A sum of points: r, so far, what the comb adds next, without its z of 1, and what is destroyed by
 * every step. */
typedef struct {
    ws_ed25519_point r;
    ws_x25519_element next[3];
    ws_x25519_element a;
    ws_x25519_element b;
} ws_ed25519_sum;

/* sum->r = 2 sum->r; its t only where with_t is 1, which is public: nothing but an addition reads
 * it. Constant time. A kernel replaces ed25519_law.c, which is both functions. */
void ws_ed25519_double(ws_ed25519_sum *sum, uint8_t with_t);

/* sum->r = sum->r + Q, or - Q where negative is 1.
 *
 * in: q: y - x, y + x and 2 d t of Q; twice: its 2 z, or 0 where z is 1, which is public. Constant
 *      time. */
void ws_ed25519_add(ws_ed25519_sum *sum, const ws_x25519_element q[3], const ws_x25519_element *twice, uint8_t negative);

#endif
