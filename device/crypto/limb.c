#include "limb.h"

#include "modular.h"
#include "secret.h"

ws_limb ws_limbs_add(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n)
{
    ws_limb carry = 0;
    uint8_t i;

    for (i = 0; i < n; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)a[i] + b[i] + carry);

        r[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }
    return carry;
}

ws_limb ws_limbs_subtract(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n)
{
    ws_limb borrow = 0;
    uint8_t i;

    for (i = 0; i < n; i++) {
        ws_two_limbs difference = (ws_two_limbs)((ws_two_limbs)a[i] - b[i] - borrow);

        r[i] = (ws_limb)difference;
        borrow = (ws_limb)(difference >> WS_LIMB_BITS) & 1;
    }
    return borrow;
}

void ws_limbs_choose(ws_limb *r, const ws_limb *a, const ws_limb *b, ws_limb first, uint8_t n)
{
    const ws_limb mask = (ws_limb)(0 - (ws_limb)ws_secret_bit((uint8_t)first));
    uint8_t i;

    for (i = 0; i < n; i++) {
        r[i] = (ws_limb)((a[i] & mask) | (b[i] & (ws_limb)~mask));
    }
}

void ws_limbs_reduce_once(ws_limb *r, const ws_limb *a, ws_limb carry, const ws_limb *m, uint8_t n)
{
    ws_limb less[WS_LIMBS(WS_MODULUS_BYTES)];
    ws_limb borrow = ws_limbs_subtract(less, a, m, n);

    /* a - m is what counts unless it is negative: borrowed, and no carry to pay with. */
    ws_limbs_choose(r, less, a, (ws_limb)(carry | (borrow ^ 1)), n);
}

void ws_limbs_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n)
{
    uint8_t i;
    uint8_t j;

    for (i = 0; i < n; i++) {
        r[i] = 0;
    }
    for (i = 0; i < n; i++) {
        const ws_limb factor = a[i];
        ws_limb carry = 0;

        for (j = 0; j < n; j++) {
            ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)factor * b[j] + r[j] + carry);

            r[j] = (ws_limb)sum;
            carry = (ws_limb)(sum >> WS_LIMB_BITS);
        }
        r[n] = carry;
        r++;
    }
}
