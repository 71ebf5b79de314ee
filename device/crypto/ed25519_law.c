#include "ed25519_law.h"

#define LIMBS WS_LIMBS(32)

typedef ws_x25519_element element;

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

    /* A and B of section 5.1.4 in a and b, C and D in t and z. -Q has y - x and y + x the other way
     * around, and -C. */
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
