#include "ed25519_points.h"

#include "ed25519_scalars.h"
#include "secret.h"
#include "x25519_powers.h"

#define LIMBS WS_LIMBS(32)
#define COLUMNS WS_ED25519_COMB_COLUMNS
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

void ws_ed25519_double(ws_ed25519_sum *sum, uint8_t with_t)
{
    ws_ed25519_point *const r = &sum->r;
    element *const a = &sum->a;
    element *const b = &sum->b;

    /* A, B and C of section 5.1.4 become x, y and z; E, G, F and H stand in a, y, z and b. */
    ws_x25519_add(a, &r->x, &r->y);
    ws_x25519_square(a, a);
    ws_x25519_square(&r->x, &r->x);
    ws_x25519_square(&r->y, &r->y);
    ws_x25519_square(&r->z, &r->z);
    ws_x25519_add(&r->z, &r->z, &r->z);
    ws_x25519_add(b, &r->x, &r->y);
    ws_x25519_subtract(a, b, a);
    ws_x25519_subtract(&r->y, &r->x, &r->y);
    ws_x25519_add(&r->z, &r->z, &r->y);
    ws_x25519_multiply(&r->x, a, &r->z);
    ws_x25519_multiply(&r->z, &r->z, &r->y);
    ws_x25519_multiply(&r->y, &r->y, b);
    if (with_t) {
        ws_x25519_multiply(&r->t, a, b);
    }
}

/* r = first where negative is 0, second where it is 1. */
static void choose(element *r, const element *first, const element *second, uint8_t negative)
{
    ws_limbs_choose(r->limbs, second->limbs, first->limbs, negative, LIMBS);
}

void ws_ed25519_add(ws_ed25519_sum *sum, const element q[3], const element *twice, uint8_t negative)
{
    ws_ed25519_point *const r = &sum->r;
    element *const a = &sum->a;
    element *const b = &sum->b;

    /* A and B of section 5.1.4 in a and b, C and D in t and z. -Q has y - x and y + x the other way around, and -C. */
    ws_x25519_subtract(a, &r->y, &r->x);
    ws_x25519_add(b, &r->y, &r->x);
    choose(&r->x, &q[WS_ED25519_DIFFERENCE], &q[WS_ED25519_SUM], negative);
    choose(&r->y, &q[WS_ED25519_SUM], &q[WS_ED25519_DIFFERENCE], negative);
    ws_x25519_multiply(a, a, &r->x);
    ws_x25519_multiply(b, b, &r->y);
    ws_x25519_multiply(&r->t, &r->t, &q[WS_ED25519_PRODUCT]);
    if (twice != 0) {
        ws_x25519_multiply(&r->z, &r->z, twice);
    } else {
        ws_x25519_add(&r->z, &r->z, &r->z);
    }
    /* F and G in z and t, E and H in x and y; then a is E H. */
    ws_x25519_subtract(&r->x, &r->z, &r->t);
    ws_x25519_add(&r->y, &r->z, &r->t);
    choose(&r->z, &r->x, &r->y, negative);
    choose(&r->t, &r->y, &r->x, negative);
    ws_x25519_subtract(&r->x, b, a);
    ws_x25519_add(&r->y, b, a);
    ws_x25519_multiply(a, &r->x, &r->y);
    ws_x25519_multiply(&r->x, &r->x, &r->z);
    ws_x25519_multiply(&r->y, &r->y, &r->t);
    ws_x25519_multiply(&r->z, &r->z, &r->t);
    r->t = *a;
}

void ws_ed25519_make_odd(ws_limb *scalar, element *a)
{
    (void)ws_limbs_add(a->limbs, scalar, ws_ed25519_order.modulus, LIMBS);
    ws_limbs_choose(scalar, scalar, a->limbs, (ws_limb)(scalar[0] & 1), LIMBS);
}

/* An odd number k = 1 + sum 2^i b_i below 2^255 (i = 1 to 254) is the sum over i = 0 to 254 of +-2^i: + where b_(i+1) is 1, and
 * for i = 254. Column c takes the signs of 2^(c + 51 j), j = 0 to 4. */
void ws_ed25519_add_column(ws_ed25519_sum *sum, const ws_limb *scalar, uint8_t column, uint8_t is_public)
{
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
        ws_select_constant((ws_word *)sum->next, &ws_ed25519_comb[signs * ENTRY_WORDS], ENTRY_WORDS, 1, 0);
    } else {
        ws_select_constant((ws_word *)sum->next, ws_ed25519_comb, ENTRY_WORDS, 16, signs);
    }
    ws_ed25519_add(sum, sum->next, 0, negative);
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
