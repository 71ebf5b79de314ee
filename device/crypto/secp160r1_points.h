/* Points of curve secp160r1, y^2 = x^3 - 3 x + b (SEC 2 version 1, section 2.4.2): what secp160r1.h and
 * ecdsa_secp160r1.h are made of.
 *
 * A point is x / z^2, y / z^3 of its coordinates (Jacobian), and infinity has z = 0. Work areas are the caller's, who
 * wipes them: what they hold after a call beside the result is as secret as the scalar. Scalars are WS_LIMBS(24) limbs. */
#ifndef WS_SECP160R1_POINTS_H
#define WS_SECP160R1_POINTS_H

#include "modular.h"
#include "secp160r1_law.h"
#include "select.h"

#include <stdint.h>

#define WS_SECP160R1_ORDER_BYTES 24

/* Of a point that is multiplied, its odd multiples below 2^WS_SECP160R1_WINDOW are kept. */
#define WS_SECP160R1_WINDOW 4

/* Odd multiples of a point P, x and y of P, 3 P, 5 P, ...; and a sum of them. */
typedef struct {
    ws_secp160r1_sum sum;
    ws_secp160r1_element table[1 << WS_SECP160R1_WINDOW];
} ws_secp160r1_multiples;

/* The prime of the field, for inverses alone (no R^2); and the order n of the curve. */
extern const ws_modulus ws_secp160r1_prime;
extern const ws_modulus ws_secp160r1_order;

/* The comb's multiples of the base point G, for each of 2 tables those of 16 points, x and y of each: curve.inc says which.
 * As elements are in memory, in words of select.h. */
#define WS_SECP160R1_COMB_WORDS (2 * 16 * 2 * WS_WORDS(20))
extern WS_CONSTANT("ws_secp160r1_comb") const ws_word ws_secp160r1_comb[WS_SECP160R1_COMB_WORDS];

/* x and y from a public key, 40 bytes big-endian. t: destroyed.
 * Returns 1, or 0 when one of them is not below p. Constant time. */
uint8_t ws_secp160r1_load(ws_secp160r1_element *x, ws_secp160r1_element *y, const uint8_t *public_key, ws_secp160r1_element *t);

/* r, an element, as the plain number that it stands for. t: destroyed; not r. Constant time. */
void ws_secp160r1_from_montgomery(ws_secp160r1_element *r, ws_secp160r1_element *t);

/* y2 = x^3 - 3 x + b. y2 is not x; t: destroyed. Constant time. */
void ws_secp160r1_curve(ws_secp160r1_element *y2, const ws_secp160r1_element *x, ws_secp160r1_element *t);

/* work->r = scalar G. in: 0 < scalar < n. out: scalar is destroyed; work->r is not infinity.
 * Constant time. */
void ws_secp160r1_multiply_base(ws_secp160r1_sum *work, ws_limb *scalar);

/* Fills work's table with the odd multiples of P, which the next two functions use. A step of its own, so that its stack and
 * theirs do not add up.
 *
 * in: public_key: P, a point of the curve. Constant time. */
void ws_secp160r1_prepare(ws_secp160r1_multiples *work, const uint8_t *public_key);

/* work->sum.r = scalar P or -scalar P: the x of scalar P.
 *
 * in:  work: prepared; 0 < scalar < n.
 * out: scalar is destroyed; work->sum.r is not infinity.
 * Constant time. */
void ws_secp160r1_multiply_point(ws_secp160r1_multiples *work, ws_limb *scalar);

/* work->sum.r = u G + v P.
 *
 * in: work: prepared; u, v < n. out: u is destroyed.
 * All of it is public: the time depends on it. */
void ws_secp160r1_multiply_two(ws_secp160r1_multiples *work, ws_limb *u, const ws_limb *v);

/* From work->r, which is not infinity: work->r.x = x, and where with_y is 1, work->r.y = y, both as plain numbers and not
 * as the field's elements. The rest of work is destroyed. Constant time. */
void ws_secp160r1_affine(ws_secp160r1_sum *work, uint8_t with_y);

/* Whether work->r has this x, a plain number below p; infinity has none. t of work is destroyed. Public. */
uint8_t ws_secp160r1_has_x(ws_secp160r1_sum *work, const ws_limb *x);

#endif
