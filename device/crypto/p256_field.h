/* Arithmetic modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1, the prime of curve P-256 (SP 800-186 section 3.2.1.3).
 *
 * An element x stands as its Montgomery form x 2^256 mod p, because p is -1 modulo 2^96: what a reduction by limbs
 * multiplies with is then the limb itself. All elements, in and out, are fully reduced: 0 <= form < p. So equal elements
 * are equal in memory.
 *
 * All four may be called with r, a, b the same or different elements; elements that overlap in part are not allowed. No
 * time, branch or address depends on the elements. A kernel replaces p256_field.c, which is all four. */
#ifndef WS_P256_FIELD_H
#define WS_P256_FIELD_H

#include "limb.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(32)];
    uint32_t alignment;
} ws_p256_element;

/* r = a b: of the forms, a b 2^-256 mod p. */
void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b);

/* r = a^2. */
void ws_p256_square(ws_p256_element *r, const ws_p256_element *a);

/* r = a + b. */
void ws_p256_add(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b);

/* r = a - b. */
void ws_p256_subtract(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b);

#endif
