/* Arithmetic modulo p = 2^384 - 2^128 - 2^96 + 2^32 - 1, the prime of curve P-384 (SP 800-186
 * section 3.2.1.4).
 *
 * An element x stands as its Montgomery form x 2^384 mod p, because p is -1 modulo 2^32: what a
 * reduction by words multiplies with is then the word itself. All elements, in and out, are fully
 * reduced: 0 <= form < p. So equal elements are equal in memory.
 *
 * All five may be called with r, a, b the same or different elements; elements that overlap in part
 * are not allowed. No time, branch or address depends on the elements. A kernel replaces
 * p384_field.c, which is all five. */
#ifndef WS_P384_FIELD_H
#define WS_P384_FIELD_H

#include "modular.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(48)];
    uint32_t alignment;
} ws_p384_element;

/* r = a b: of the forms, a b 2^-384 mod p. */
void ws_p384_multiply(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b);

/* r = a^2. */
void ws_p384_square(ws_p384_element *r, const ws_p384_element *a);

/* r = a + b. */
void ws_p384_add(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b);

/* r = a - b. */
void ws_p384_subtract(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b);

/* a = a / 2. */
void ws_p384_halve(ws_p384_element *a);

/* The prime, and as modular.h's functions have it, for inverses alone (no R^2). */
extern const ws_limb ws_p384_modulus[WS_LIMBS(48)];
extern const ws_modulus ws_p384_prime;

#endif
