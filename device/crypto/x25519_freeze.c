#include "x25519_field.h"

#include "secret.h"

#define LIMBS WS_LIMBS(32)

void ws_x25519_freeze(ws_x25519_element *a)
{
    ws_limb more[LIMBS];
    const ws_limb top = (ws_limb)1 << (WS_LIMB_BITS - 1);
    ws_limb carry;
    uint8_t i;
    uint8_t twice;

    /* What is above bit 255 counts 19 times: a is below 2^255 + 19 then. And a + 19 reaches bit 255 where a is p or more. */
    for (twice = 0; twice < 2; twice++) {
        carry = (ws_limb)(19u * ws_secret_bit((uint8_t)(a->limbs[LIMBS - 1] >> (WS_LIMB_BITS - 1))));
        a->limbs[LIMBS - 1] &= (ws_limb)~top;
        for (i = 0; i < LIMBS; i++) {
            ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)a->limbs[i] + carry);

            a->limbs[i] = (ws_limb)sum;
            carry = (ws_limb)(sum >> WS_LIMB_BITS);
        }
    }
    carry = 19;
    for (i = 0; i < LIMBS; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)a->limbs[i] + carry);

        more[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }
    carry = (ws_limb)(more[LIMBS - 1] >> (WS_LIMB_BITS - 1));
    more[LIMBS - 1] &= (ws_limb)~top;
    ws_limbs_choose(a->limbs, more, a->limbs, carry, LIMBS);
    ws_wipe(more, sizeof more);
}
