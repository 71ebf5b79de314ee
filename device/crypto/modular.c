#include "modular.h"

void ws_modular_add(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m)
{
    const uint8_t limbs = WS_LIMBS(m->bytes);
    ws_limb carry = ws_limbs_add(r, a, b, limbs);

    ws_limbs_reduce_once(r, r, carry, m->modulus, limbs);
}

void ws_modular_reduce(ws_limb *r, const ws_limb *a, const ws_modulus *m)
{
    ws_limbs_reduce_once(r, a, 0, m->modulus, WS_LIMBS(m->bytes));
}
