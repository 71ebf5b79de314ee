/* Points of curve P-384, y^2 = x^3 - 3 x + b (SP 800-186 section 3.2.1.4): what p384.h and
 * ecdsa_p384.h are made of.
 *
 * A point is x / z^2, y / z^3 of its coordinates (Jacobian), and infinity has z = 0. Work areas are
 * the caller's, who wipes them: what they hold after a call beside the result is as secret as the
 * scalar. Scalars are WS_LIMBS(52) limbs. */
#ifndef WS_P384_POINTS_H
#define WS_P384_POINTS_H

#include "compiler.h"
#include "modular.h"
#include "p384_law.h"
#include "select.h"

#include <stdint.h>

/* A word more than n has: multiply_base of curve.inc has a scalar above 2^384. */
#define WS_P384_ORDER_BYTES 52

/* Of a point that is multiplied, its odd multiples below 2^WS_P384_WINDOW are kept. */
#define WS_P384_WINDOW (WS_SMALL ? 3 : 4)

/* Odd multiples of a point P, x and y of P, 3 P, 5 P, ...; and a sum of them. */
typedef struct {
    ws_p384_sum sum;
    ws_p384_element table[1 << WS_P384_WINDOW];
} ws_p384_multiples;

/* The order n of the curve. */
extern const ws_modulus ws_p384_order;

/* The comb's multiples of the base point G, for each of its tables those of 16 points, x and y of
 * each: curve.inc says which. As elements are in memory, in words of select.h. */
#define WS_P384_COMB_TABLES (WS_SMALL ? 1 : WS_COMB_TABLES == 4 ? 4 : 2)
#define WS_P384_COMB_WORDS (WS_P384_COMB_TABLES * 16 * 2 * WS_WORDS(48))
extern WS_CONSTANT("ws_p384_comb") const ws_word ws_p384_comb[WS_P384_COMB_WORDS];

/* x and y from a public key, 96 bytes big-endian. t: destroyed.
 * Returns 1, or 0 when one of them is not below p. Constant time. */
uint8_t ws_p384_load(ws_p384_element *x, ws_p384_element *y, const uint8_t *public_key,
                     ws_p384_element *t);

/* r, an element, as the plain number that it stands for. t: destroyed; not r. Constant time. */
void ws_p384_from_montgomery(ws_p384_element *r, ws_p384_element *t);

/* y2 = x^3 - 3 x + b. y2 is not x; t: destroyed. Constant time. */
void ws_p384_curve(ws_p384_element *y2, const ws_p384_element *x, ws_p384_element *t);

/* work->r = scalar G. in: 0 < scalar < n. out: scalar is destroyed; work->r is not infinity.
 * Constant time. */
void ws_p384_multiply_base(ws_p384_sum *work, ws_limb *scalar);

/* Fills work's table with the odd multiples of P, which the next two functions use. A step of its
 * own, so that its stack and theirs do not add up.
 *
 * in: public_key: P, a point of the curve. Constant time. */
void ws_p384_prepare(ws_p384_multiples *work, const uint8_t *public_key);

/* work->sum.r = scalar P or -scalar P: the x of scalar P.
 *
 * in:  work: prepared; 0 < scalar < n.
 * out: scalar is destroyed; work->sum.r is not infinity.
 * Constant time. */
void ws_p384_multiply_point(ws_p384_multiples *work, ws_limb *scalar);

/* work->sum.r = u G + v P.
 *
 * in: work: prepared; u, v < n. out: u is destroyed.
 * All of it is public: the time depends on it. */
void ws_p384_multiply_two(ws_p384_multiples *work, ws_limb *u, const ws_limb *v);

/* From work->r, which is not infinity: work->r.x = x, and where with_y is 1, work->r.y = y, both as
 * plain numbers and not as the field's elements. The rest of work is destroyed. Constant time. */
void ws_p384_affine(ws_p384_sum *work, uint8_t with_y);

/* Whether work->r has this x, a plain number below p; infinity has none. t of work is destroyed.
 * Public. */
uint8_t ws_p384_has_x(ws_p384_sum *work, const ws_limb *x);

#endif
