#include "p192_field.h"

#define LIMBS WS_LIMBS(24)

void ws_p192_add(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b)
{
    ws_limb carry = ws_limbs_add(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_reduce_once(r->limbs, r->limbs, carry, ws_p192_modulus, LIMBS);
}

void ws_p192_subtract(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b)
{
    ws_limb sum[LIMBS];
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_add(sum, r->limbs, ws_p192_modulus, LIMBS);
    ws_limbs_choose(r->limbs, sum, r->limbs, borrow, LIMBS);
}
