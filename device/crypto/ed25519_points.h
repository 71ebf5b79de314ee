/* Points of the curve -x^2 + y^2 = 1 + d x^2 y^2 modulo 2^255 - 19 (RFC 8032 section 5.1): what ed25519.h is made of.
 *
 * A point is x / z, y / z of its coordinates, with x y / z in t (extended coordinates). The law of addition in section 5.1.4
 * is right for every two points, the same, opposite or neutral, as d is no square (section 5.1: complete). Work areas are
 * the caller's, who wipes them: what they hold after a call beside the result is as secret as the scalar. */
#ifndef WS_ED25519_POINTS_H
#define WS_ED25519_POINTS_H

#include "compiler.h"
#include "select.h"
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

/* A sum of points: r, so far, what the comb adds next, without its z of 1, and what is destroyed by every step. */
typedef struct {
    ws_ed25519_point r;
    ws_x25519_element next[3];
    ws_x25519_element a;
    ws_x25519_element b;
} ws_ed25519_sum;

/* The comb's multiples of the base point B: ed25519_comb.c says which. As elements are in memory, in words of select.h. */
#define WS_ED25519_COMB_WORDS (16 * 3 * WS_WORDS(32))
extern WS_CONSTANT("ws_ed25519_comb") const ws_word ws_ed25519_comb[WS_ED25519_COMB_WORDS];

/* How often a scalar's multiple is doubled by the comb. */
#define WS_ED25519_COMB_COLUMNS 51

/* r = value. */
void ws_ed25519_set(ws_x25519_element *r, uint8_t value);

/* sum->r = the neutral point. */
void ws_ed25519_begin(ws_ed25519_sum *sum);

/* sum->r = 2 sum->r; its t only where with_t is 1, which is public: nothing but an addition reads it. */
void ws_ed25519_double(ws_ed25519_sum *sum, uint8_t with_t);

/* sum->r = sum->r + Q, or - Q where negative is 1.
 *
 * in: q: y - x, y + x and 2 d t of Q; twice: its 2 z, or 0 where z is 1. */
void ws_ed25519_add(ws_ed25519_sum *sum, const ws_x25519_element q[3], const ws_x25519_element *twice, uint8_t negative);

/* Makes scalar odd, as the next function wants it: where it is even, the order of B is added to it.
 * in: scalar: WS_LIMBS(32) limbs, below the order; out: below twice that. a: destroyed. */
void ws_ed25519_make_odd(ws_limb *scalar, ws_x25519_element *a);

/* Adds the multiple of B in a column of the comb, 0 to WS_ED25519_COMB_COLUMNS - 1, to sum->r. Where all columns are added, the
 * last one first and sum->r doubled before each of the others, scalar B is.
 *
 * in: scalar: odd, as above. is_public: 1 where the scalar may be seen, by which entry is read. */
void ws_ed25519_add_column(ws_ed25519_sum *sum, const ws_limb *scalar, uint8_t column, uint8_t is_public);

/* sum->r in the 32 bytes of section 5.1.2. out: sum is destroyed. */
void ws_ed25519_encode(ws_ed25519_sum *sum, uint8_t bytes[32]);

#endif
