#include "p192_field.h"

#include "compiler.h"

#define LIMBS WS_LIMBS(24)

WS_ALIGNED const ws_limb ws_p192_modulus[LIMBS] = {
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xfffffffe),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

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
