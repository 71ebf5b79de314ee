#include "modular_wide.h"

void ws_wide_reduce_once(ws_limb *r, const ws_limb *a, ws_limb carry, const ws_limb *m, uint8_t n)
{
    ws_limb less[WS_LIMBS(WS_WIDE_MODULUS_BYTES)];
    ws_limb borrow = ws_limbs_subtract(less, a, m, n);

    /* a - m is what counts unless it is negative: borrowed, and no carry to pay with. */
    ws_limbs_choose(r, less, a, (ws_limb)(carry | (borrow ^ 1)), n);
}

void ws_modular_wide_add(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m)
{
    const uint8_t limbs = WS_LIMBS(m->bytes);
    ws_limb carry = ws_limbs_add(r, a, b, limbs);

    ws_wide_reduce_once(r, r, carry, m->modulus, limbs);
}

void ws_modular_wide_reduce(ws_limb *r, const ws_limb *a, const ws_modulus *m)
{
    ws_wide_reduce_once(r, a, 0, m->modulus, WS_LIMBS(m->bytes));
}

void ws_modular_wide_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, const ws_modulus *m)
{
    const uint8_t limbs = WS_LIMBS(m->bytes);
    ws_limb t[WS_LIMBS(WS_WIDE_MODULUS_BYTES)];
    /* The limb above t, and its carry: together with t below twice the modulus times
     * 2^WS_LIMB_BITS. */
    ws_limb top = 0;
    uint8_t i;
    uint8_t j;

    for (i = 0; i < limbs; i++) {
        t[i] = 0;
    }
    for (i = 0; i < limbs; i++) {
        const ws_limb factor = a[i];
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)factor * b[0] + t[0]);
        /* unsigned, lest narrow limbs become int, and their product more than an int holds. */
        const ws_limb cleared = (ws_limb)((unsigned)(ws_limb)sum * (ws_limb)m->negated_inverse);
        ws_two_limbs product = (ws_two_limbs)((ws_two_limbs)cleared * m->modulus[0] + (ws_limb)sum);
        ws_limb carry = (ws_limb)(sum >> WS_LIMB_BITS);
        ws_limb reduction = (ws_limb)(product >> WS_LIMB_BITS);

        for (j = 1; j < limbs; j++) {
            sum = (ws_two_limbs)((ws_two_limbs)factor * b[j] + t[j] + carry);
            carry = (ws_limb)(sum >> WS_LIMB_BITS);
            product =
                (ws_two_limbs)((ws_two_limbs)cleared * m->modulus[j] + (ws_limb)sum + reduction);
            reduction = (ws_limb)(product >> WS_LIMB_BITS);
            t[j - 1] = (ws_limb)product;
        }
        sum = (ws_two_limbs)((ws_two_limbs)carry + reduction + top);
        t[limbs - 1] = (ws_limb)sum;
        top = (ws_limb)(sum >> WS_LIMB_BITS);
    }
    ws_wide_reduce_once(r, t, top, m->modulus, limbs);
}
