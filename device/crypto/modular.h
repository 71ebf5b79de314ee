/* Arithmetic modulo an odd number, the same code for every modulus: the orders of the curves, and inverses modulo their
 * primes.
 *
 * Numbers are limbs as in limb.h, as many as the modulus has; in and out they are below the modulus unless said otherwise.
 * r, a, b may be the same number. No time, branch or address depends on the numbers; the modulus is public. */
#ifndef WS_MODULAR_H
#define WS_MODULAR_H

#include "limb.h"

/* The widest modulus, in bytes. */
#define WS_MODULUS_BYTES 32

typedef struct {
    /* Bytes of a number: 20, 24, 28 or 32; of modular_wide.h 48 or 52. R is 2^(8 bytes), and the modulus is below R. */
    uint8_t bytes;
    /* Bits of the modulus, without leading zeros. */
    uint16_t bits;
    /* The modulus, aligned to 4 where words are, R^2 modulo it, both as limbs; and -1 / modulus modulo 2^32. */
    const ws_limb *modulus;
    const ws_limb *r_squared;
    uint32_t negated_inverse;
} ws_modulus;

/* r = a b / R (Montgomery's product). Of a and b one may be any number of so many limbs. A kernel replaces
 * modular_multiply.c, which is this function. */
void ws_modular_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m);

/* r = a + b. */
void ws_modular_add(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m);

/* r = a modulo m, for a below twice the modulus. */
void ws_modular_reduce(ws_limb *r, const ws_limb *a, const ws_modulus *m);

/* r = 1 / a; 0 for a = 0. */
void ws_modular_invert(ws_limb *r, const ws_limb *a, const ws_modulus *m);

#endif
