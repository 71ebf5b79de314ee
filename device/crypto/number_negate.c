#include "number.h"

#include "secret.h"

void ws_number_negate(ws_limb *a, const ws_modulus *m, uint8_t negate)
{
    const uint8_t n = WS_LIMBS(m->bytes);
    const ws_limb mask = (ws_limb)(0 - (ws_limb)ws_secret_bit(negate));
    /* m - a = m + not a + 1. */
    ws_limb carry = mask & 1;
    uint8_t i;

    for (i = 0; i < n; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)(ws_limb)(a[i] ^ mask) + (m->modulus[i] & mask) + carry);

        a[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }
}
