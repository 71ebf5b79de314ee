#include "p384_field.h"

#include "modular_wide.h"
#include "secret.h"

#define LIMBS WS_LIMBS(48)
/* Limbs of 32 bits, the step of p's exponents. */
#define WORD WS_LIMBS(4)

#if WS_LIMB_BITS == 8
typedef int16_t signed_limbs;
#elif WS_LIMB_BITS == 16
typedef int32_t signed_limbs;
#else
typedef int64_t signed_limbs;
#endif

/* Montgomery's reduction in one pass over the columns of the product. With q, whose product with p
 * clears the low half, q p = q 2^384 - q 2^128 - q 2^96 + q 2^32 - q. So a limb of q is what its
 * column holds of all but the last term, and stays there for the columns above. */
void ws_p384_multiply(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b)
{
    ws_limb t[2 * LIMBS];
    signed_limbs sum = 0;
    uint8_t i;

    ws_limbs_multiply(t, a->limbs, b->limbs, LIMBS);
    for (i = 0; i < 2 * LIMBS; i++) {
        sum += t[i];
        if ((uint8_t)(i - WORD) < LIMBS) {
            sum += t[i - WORD];
        }
        if ((uint8_t)(i - 3 * WORD) < LIMBS) {
            sum -= t[i - 3 * WORD];
        }
        if ((uint8_t)(i - 4 * WORD) < LIMBS) {
            sum -= t[i - 4 * WORD];
        }
        if (i >= LIMBS) {
            sum += t[i - LIMBS];
        }
        t[i] = (ws_limb)sum;
        sum >>= WS_LIMB_BITS;
    }
    ws_wide_reduce_once(r->limbs, t + LIMBS, (ws_limb)sum, ws_p384_modulus, LIMBS);
}

void ws_p384_square(ws_p384_element *r, const ws_p384_element *a)
{
    ws_p384_multiply(r, a, a);
}

void ws_p384_add(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b)
{
    ws_modular_wide_add(r->limbs, a->limbs, b->limbs, &ws_p384_prime);
}

void ws_p384_subtract(ws_p384_element *r, const ws_p384_element *a, const ws_p384_element *b)
{
    ws_limb sum[LIMBS];
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_add(sum, r->limbs, ws_p384_modulus, LIMBS);
    ws_limbs_choose(r->limbs, sum, r->limbs, borrow, LIMBS);
}

void ws_p384_halve(ws_p384_element *a)
{
    /* p is odd: a or a + p is even. */
    const ws_limb mask = (ws_limb)(0 - (ws_limb)ws_secret_bit((uint8_t)(a->limbs[0] & 1)));
    ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)a->limbs[0] + (ws_p384_modulus[0] & mask));
    ws_limb low = (ws_limb)sum;
    uint8_t i;

    for (i = 1; i < LIMBS; i++) {
        sum = (ws_two_limbs)((ws_two_limbs)a->limbs[i] + (ws_p384_modulus[i] & mask) +
                             (ws_limb)(sum >> WS_LIMB_BITS));
        a->limbs[i - 1] = (ws_limb)((low >> 1) | (ws_limb)((ws_limb)sum << (WS_LIMB_BITS - 1)));
        low = (ws_limb)sum;
    }
    sum >>= WS_LIMB_BITS;
    a->limbs[LIMBS - 1] = (ws_limb)((low >> 1) | (ws_limb)((ws_limb)sum << (WS_LIMB_BITS - 1)));
}
