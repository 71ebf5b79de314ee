/* Arithmetic modulo p = 2^160 - 2^31 - 1, the prime of curve secp160r1 (SEC 2 version 1, section 2.4.2).
 *
 * An element stands as itself (no Montgomery form), because 2^160 is 2^31 + 1 modulo p. All elements, in and out, are
 * fully reduced: 0 <= x < p. So equal elements are equal in memory.
 *
 * All four may be called with r, a, b the same or different elements; elements that overlap in part are not allowed. No
 * time, branch or address depends on the elements. A kernel replaces secp160r1_field.c, which is all four. */
#ifndef WS_SECP160R1_FIELD_H
#define WS_SECP160R1_FIELD_H

#include "limb.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(20)];
    uint32_t alignment;
} ws_secp160r1_element;

/* r = a b. */
void ws_secp160r1_multiply(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b);

/* r = a^2. */
void ws_secp160r1_square(ws_secp160r1_element *r, const ws_secp160r1_element *a);

/* r = a + b. */
void ws_secp160r1_add(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b);

/* r = a - b. */
void ws_secp160r1_subtract(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b);

#endif
