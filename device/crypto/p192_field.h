/* Arithmetic modulo p = 2^192 - 2^64 - 1, the prime of curve P-192 (FIPS 186-4 section D.1.2.1).
 *
 * An element stands as itself (no Montgomery form), because 2^192 is 2^64 + 1 modulo p. All
 * elements, in and out, are fully reduced: 0 <= x < p.
 *
 * All four may be called with r, a, b the same or different elements; elements that overlap in part
 * are not allowed. No time, branch or address depends on the elements. A kernel replaces
 * p192_multiply.c, which is the first two, and one p192_linear.c, which is the others. */
#ifndef WS_P192_FIELD_H
#define WS_P192_FIELD_H

#include "limb.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(24)];
    uint32_t alignment;
} ws_p192_element;

/* r = a b. */
void ws_p192_multiply(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b);

/* r = a^2. */
void ws_p192_square(ws_p192_element *r, const ws_p192_element *a);

/* r = a + b. */
void ws_p192_add(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b);

/* r = a - b. */
void ws_p192_subtract(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b);

/* The prime, as the functions here have it. */
extern const ws_limb ws_p192_modulus[WS_LIMBS(24)];

#endif
