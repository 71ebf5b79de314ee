/* Numbers as limbs (limb.h), between bytes and arithmetic: reading, writing, comparing, and what the curves need modulo a
 * prime beside modular.h.
 *
 * No time, branch or address depends on the numbers, and what is returned is 0 or 1; moduli and lengths are public. */
#ifndef WS_NUMBER_H
#define WS_NUMBER_H

#include "modular.h"

#include <stdint.h>

/* r, of n limbs, = the number in len bytes, big-endian, any alignment. len is at most the bytes of r. */
void ws_number_read(ws_limb *r, uint8_t n, const uint8_t *in, uint8_t len);

/* The lowest len bytes of a number, big-endian. out: any alignment, outside a. */
void ws_number_write(uint8_t *out, uint8_t len, const ws_limb *a);

/* Whether a, of n limbs, is 0. */
uint8_t ws_number_is_zero(const ws_limb *a, uint8_t n);

/* Whether a < b, both of n limbs. */
uint8_t ws_number_below(const ws_limb *a, const ws_limb *b, uint8_t n);

/* a = modulus - a where negate is 1; as it was where it is 0. in: 0 < a <= modulus; on ARM, a is aligned to 4.
 * A kernel replaces number_negate.c. */
void ws_number_negate(ws_limb *a, const ws_modulus *m, uint8_t negate);

/* a = a / 2 modulo the modulus. On ARM, a is aligned to 4. A kernel replaces number_halve.c. */
void ws_number_halve(ws_limb *a, const ws_modulus *m);

/* A scalar of len random bytes: r = (in modulo (order - 1)) + 1, as FIPS 186-5 sections A.2.1 and A.3.1 do with bytes that
 * are 64 bits or more longer than the order. r has the limbs of the order, which differs from a power of 2^32 by less than
 * its 2^-31st part. */
void ws_number_scalar(ws_limb *r, const uint8_t *in, uint8_t len, const ws_modulus *order);

#endif
