/* Arithmetic modulo p = 2^255 - 19, the prime of Curve25519 (RFC 7748 section 4.1).
 *
 * An element is any number below 2^256 of its residue class; ws_x25519_freeze makes the one below p of it. All may be called
 * with r, a, b the same or different elements. No time, branch or address depends on the elements. A kernel replaces
 * x25519_field.c, which is all of them but ws_x25519_freeze. */
#ifndef WS_X25519_FIELD_H
#define WS_X25519_FIELD_H

#include "limb.h"

/* Aligned as uint32_t is on the processor. */
typedef union {
    ws_limb limbs[WS_LIMBS(32)];
    uint32_t alignment;
} ws_x25519_element;

/* r = a b. */
void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b);

/* r = a^2. */
void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a);

/* r = 121665 a: (486662 - 2) / 4, of the curve's coefficient. */
void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a);

/* r = a + b. */
void ws_x25519_add(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b);

/* r = a - b. */
void ws_x25519_subtract(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b);

/* Changes a and b for each other where swap is 1, not where it is 0. */
void ws_x25519_exchange(ws_x25519_element *a, ws_x25519_element *b, uint8_t swap);

/* a as the number below p. */
void ws_x25519_freeze(ws_x25519_element *a);

#endif
