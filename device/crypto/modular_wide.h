/* Arithmetic modulo an odd number of 384 bits: what modular.h has for shorter ones. Apart from it,
 * because its work areas are longer.
 *
 * Numbers are limbs as in limb.h, as many as the modulus has, 48 or 52 bytes; in and out they are
 * below the modulus unless said otherwise. r, a, b may be the same number. No time, branch or
 * address depends on the numbers; the modulus is public. */
#ifndef WS_MODULAR_WIDE_H
#define WS_MODULAR_WIDE_H

#include "modular.h"

/* The widest modulus, in bytes. */
#define WS_WIDE_MODULUS_BYTES 52

/* r = a b / R (Montgomery's product). Of a and b one may be any number of so many limbs. */
void ws_modular_wide_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m);

/* r = a + b. */
void ws_modular_wide_add(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m);

/* r = a modulo m, for a below twice the modulus. */
void ws_modular_wide_reduce(ws_limb *r, const ws_limb *a, const ws_modulus *m);

/* r = 1 / a; 0 for a = 0. */
void ws_modular_wide_invert(ws_limb *r, const ws_limb *a, const ws_modulus *m);

/* limb.h's ws_limbs_reduce_once for as many limbs. */
void ws_wide_reduce_once(ws_limb *r, const ws_limb *a, ws_limb carry, const ws_limb *m, uint8_t n);

#endif
