#include "number.h"

#include "secret.h"

void ws_number_halve(ws_limb *a, const ws_modulus *m)
{
    const uint8_t n = WS_LIMBS(m->bytes);
    /* The modulus is odd: a or a + modulus is even. */
    const ws_limb mask = (ws_limb)(0 - (ws_limb)ws_secret_bit((uint8_t)(a[0] & 1)));
    ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)a[0] + (m->modulus[0] & mask));
    ws_limb low = (ws_limb)sum;
    uint8_t i;

    for (i = 1; i < n; i++) {
        sum = (ws_two_limbs)((ws_two_limbs)a[i] + (m->modulus[i] & mask) + (ws_limb)(sum >> WS_LIMB_BITS));
        a[(uint8_t)(i - 1)] = (ws_limb)((low >> 1) | (ws_limb)((ws_limb)sum << (WS_LIMB_BITS - 1)));
        low = (ws_limb)sum;
    }
    a[(uint8_t)(n - 1)] = (ws_limb)((low >> 1) | (ws_limb)((ws_limb)(sum >> WS_LIMB_BITS) << (WS_LIMB_BITS - 1)));
}
