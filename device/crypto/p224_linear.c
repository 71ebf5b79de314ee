#include "p224_field.h"

#define LIMBS WS_LIMBS(28)

void ws_p224_add(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b)
{
    ws_modular_add(r->limbs, a->limbs, b->limbs, &ws_p224_prime);
}

void ws_p224_subtract(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b)
{
    ws_limb sum[LIMBS];
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_add(sum, r->limbs, ws_p224_modulus, LIMBS);
    ws_limbs_choose(r->limbs, sum, r->limbs, borrow, LIMBS);
}
