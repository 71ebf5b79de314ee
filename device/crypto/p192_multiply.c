#include "p192_field.h"

#define LIMBS WS_LIMBS(24)
/* Limbs of 64 bits, the step of p's exponents. */
#define DIGIT WS_LIMBS(8)

void ws_p192_multiply(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b)
{
    ws_limb t[2 * LIMBS];
    const ws_limb *const high = t + LIMBS;
    ws_two_limbs sum = 0;
    ws_limb carry;
    uint8_t i;

    ws_limbs_multiply(t, a->limbs, b->limbs, LIMBS);
    /* The digits 3, 4 and 5 are added to 0 and 1, to 1 and 2, and to all three. */
    for (i = 0; i < LIMBS; i++) {
        const uint8_t within = i % DIGIT;

        sum += t[i];
        sum += high[2 * DIGIT + within];
        if (i < 2 * DIGIT) {
            sum += high[within];
        }
        if (i >= DIGIT) {
            sum += high[DIGIT + within];
        }
        t[i] = (ws_limb)sum;
        sum >>= WS_LIMB_BITS;
    }
    /* At most 3 times 2^192, each 2^64 + 1; then below 2^192 + 2^66, less than twice p. */
    carry = (ws_limb)sum;
    sum = 0;
    for (i = 0; i < LIMBS; i++) {
        sum += t[i];
        if (i == 0 || i == DIGIT) {
            sum += carry;
        }
        t[i] = (ws_limb)sum;
        sum >>= WS_LIMB_BITS;
    }
    ws_limbs_reduce_once(r->limbs, t, (ws_limb)sum, ws_p192_modulus, LIMBS);
}

void ws_p192_square(ws_p192_element *r, const ws_p192_element *a)
{
    ws_p192_multiply(r, a, a);
}
