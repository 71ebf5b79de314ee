/* Points of the curve -x^2 + y^2 = 1 + d x^2 y^2 modulo 2^255 - 19 (RFC 8032 section 5.1): what ed25519.h is made of.
 *
 * Work areas are the caller's, who wipes them: what they hold after a call beside the result is as secret as the scalar. */
#ifndef WS_ED25519_POINTS_H
#define WS_ED25519_POINTS_H

#include "compiler.h"
#include "ed25519_law.h"
#include "select.h"

#include <stdint.h>

/* The comb's multiples of the base point B: ed25519_comb.c says which. As elements are in memory, in words of select.h. */
#define WS_ED25519_COMB_TABLES WS_COMB_TABLES
#define WS_ED25519_COMB_WORDS (WS_ED25519_COMB_TABLES * 16 * 3 * WS_WORDS(32))
extern WS_CONSTANT("ws_ed25519_comb") const ws_word ws_ed25519_comb[WS_ED25519_COMB_WORDS];

/* How often a scalar's multiple is doubled by the comb. */
#define WS_ED25519_COMB_DOUBLINGS (WS_ED25519_COMB_TABLES == 4 ? 13 : 51)

/* r = value. */
void ws_ed25519_set(ws_x25519_element *r, uint8_t value);

/* sum->r = the neutral point. */
void ws_ed25519_begin(ws_ed25519_sum *sum);

/* Makes scalar odd, as the next function wants it: where it is even, the order of B is added to it.
 * in: scalar: WS_LIMBS(32) limbs, below the order; out: below twice that. a: destroyed. */
void ws_ed25519_make_odd(ws_limb *scalar, ws_x25519_element *a);

/* Adds the multiples of B in a column of the comb's tables, 0 to WS_ED25519_COMB_DOUBLINGS - 1, to sum->r. Where all columns
 * are added, the last one first and sum->r doubled before each of the others, scalar B is.
 *
 * in: scalar: odd, as above. is_public: 1 where the scalar may be seen, by which entry is read. */
void ws_ed25519_add_column(ws_ed25519_sum *sum, const ws_limb *scalar, uint8_t column, uint8_t is_public);

/* sum->r in the 32 bytes of section 5.1.2. out: sum is destroyed. */
void ws_ed25519_encode(ws_ed25519_sum *sum, uint8_t bytes[32]);

#endif
