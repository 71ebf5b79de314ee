#include "ed25519_points.h"

#include "ed25519_scalars.h"
#include "secret.h"
#include "x25519_powers.h"

#define LIMBS WS_LIMBS(32)
#define COLUMNS 51
#define ENTRY_WORDS (3 * WS_WORDS(32))

typedef ws_x25519_element element;

void ws_ed25519_set(element *r, uint8_t value)
{
    uint8_t *bytes = (uint8_t *)r->limbs;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        bytes[i] = 0;
    }
    bytes[0] = value;
}

void ws_ed25519_begin(ws_ed25519_sum *sum)
{
    ws_ed25519_set(&sum->r.x, 0);
    ws_ed25519_set(&sum->r.y, 1);
    ws_ed25519_set(&sum->r.z, 1);
    ws_ed25519_set(&sum->r.t, 0);
}

void ws_ed25519_make_odd(ws_limb *scalar, element *a)
{
    (void)ws_limbs_add(a->limbs, scalar, ws_ed25519_order.modulus, LIMBS);
    ws_limbs_choose(scalar, scalar, a->limbs, (ws_limb)(scalar[0] & 1), LIMBS);
}

/* An odd number k = 1 + sum 2^i b_i below 2^255 (i = 1 to 254) is the sum over i = 0 to 254 of +-2^i: + where b_(i+1) is 1, and
 * for i = 254. Column c takes the signs of 2^(c + 51 j), j = 0 to 4. */
static void add_entry(ws_ed25519_sum *sum, const ws_limb *scalar, uint8_t column, uint8_t table, uint8_t is_public)
{
    const WS_IN_CONSTANTS ws_word *const entries = &ws_ed25519_comb[table * 16 * ENTRY_WORDS];
    uint8_t i = (uint8_t)(4 * COLUMNS + column);
    uint8_t signs = 0;
    uint8_t negative;
    uint8_t j;

    for (j = 0; j < 5; j++) {
        const uint8_t next = (uint8_t)(i + 1);

        signs = (uint8_t)(signs << 1);
        signs |= i == 5 * COLUMNS - 1 ? 1 : (uint8_t)(scalar[next / WS_LIMB_BITS] >> (next % WS_LIMB_BITS)) & 1;
        i = (uint8_t)(i - COLUMNS);
    }
    negative = ws_secret_bit((uint8_t)(signs >> 4)) ^ 1;
    signs = (uint8_t)((signs ^ (0 - negative)) & 15);
    if (is_public) {
        ws_select_constant((ws_word *)sum->next, &entries[signs * ENTRY_WORDS], ENTRY_WORDS, 1, 0);
    } else {
        ws_select_constant((ws_word *)sum->next, entries, ENTRY_WORDS, 16, signs);
    }
    ws_ed25519_add(sum, sum->next, 0, negative);
}

void ws_ed25519_add_column(ws_ed25519_sum *sum, const ws_limb *scalar, uint8_t column, uint8_t is_public)
{
    uint8_t table;

    for (table = 0; table < WS_ED25519_COMB_TABLES; table++) {
        if (WS_ED25519_COMB_TABLES == 1 || column < COLUMNS) {
            add_entry(sum, scalar, column, table, is_public);
        }
        column = (uint8_t)(column + WS_ED25519_COMB_DOUBLINGS);
    }
}

void ws_ed25519_encode(ws_ed25519_sum *sum, uint8_t bytes[32])
{
    ws_ed25519_point *const r = &sum->r;
    const uint8_t *x = (const uint8_t *)r->x.limbs;
    const uint8_t *y = (const uint8_t *)r->y.limbs;
    uint8_t i;

    ws_x25519_invert(&r->z, &r->t, &sum->a, &sum->b, &sum->next[0]);
    ws_x25519_multiply(&r->x, &r->x, &r->z);
    ws_x25519_multiply(&r->y, &r->y, &r->z);
    ws_x25519_freeze(&r->x);
    ws_x25519_freeze(&r->y);
    for (i = 0; i < 32; i++) {
        bytes[i] = y[i];
    }
    bytes[31] |= (uint8_t)(x[0] << 7);
}
