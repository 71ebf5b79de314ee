/* Arithmetic modulo p = 2^224 - 2^96 + 1, the prime of curve P-224 (SP 800-186 section 3.2.1.2).
 *
 * An element x stands as its Montgomery form x 2^224 mod p, because p is 1 modulo 2^96: what a
 * reduction by limbs multiplies with is then the limb itself, negated. All elements, in and out,
 * are fully reduced: 0 <= form < p.
 *
 * All four may be called with r, a, b the same or different elements; elements that overlap in part
 * are not allowed. No time, branch or address depends on the elements. A kernel replaces
 * p224_multiply.c, which is the first two, and one p224_linear.c, which is the others. */
#ifndef WS_P224_FIELD_H
#define WS_P224_FIELD_H

#include "modular.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(28)];
    uint32_t alignment;
} ws_p224_element;

/* r = a b: of the forms, a b 2^-224 mod p. */
void ws_p224_multiply(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b);

/* r = a^2. */
void ws_p224_square(ws_p224_element *r, const ws_p224_element *a);

/* r = a + b. */
void ws_p224_add(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b);

/* r = a - b. */
void ws_p224_subtract(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b);

/* The prime, and as modular.h's functions have it. */
extern const ws_limb ws_p224_modulus[WS_LIMBS(28)];
extern const ws_modulus ws_p224_prime;

#endif
