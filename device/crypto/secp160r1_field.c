#include "secp160r1_field.h"

#define LIMBS WS_LIMBS(20)
#define WORD WS_LIMBS(4)

static const ws_limb prime[LIMBS] = {
    WS_WORD(0x7fffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

/* r, of LIMBS + WORD limbs, = low + high (2^31 + 1); low has LIMBS limbs, high as many as told, at most LIMBS. r and low
 * may be the same, r and high not. */
static void fold(ws_limb *r, const ws_limb *low, const ws_limb *high, uint8_t limbs)
{
    ws_two_limbs sum = 0;
    uint8_t i;

    for (i = 0; i < LIMBS + WORD; i++) {
        /* This limb of high 2^31 = high 2^32 / 2. */
        const uint8_t above = (uint8_t)(i - WORD);
        ws_limb half = 0;

        if (above < limbs) {
            half = high[above] >> 1;
        }
        if ((uint8_t)(above + 1) < limbs) {
            half |= (ws_limb)(high[(uint8_t)(above + 1)] << (WS_LIMB_BITS - 1));
        }
        sum += half;
        if (i < LIMBS) {
            sum += low[i];
        }
        if (i < limbs) {
            sum += high[i];
        }
        r[i] = (ws_limb)sum;
        sum >>= WS_LIMB_BITS;
    }
}

void ws_secp160r1_multiply(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b)
{
    ws_limb t[2 * LIMBS];
    ws_limb sum[LIMBS + WORD];

    ws_limbs_multiply(t, a->limbs, b->limbs, LIMBS);
    /* Below 2^192; then below 2^160 + 2^64; then below 2^160. */
    fold(sum, t, t + LIMBS, LIMBS);
    fold(t, sum, sum + LIMBS, WORD);
    fold(sum, t, t + LIMBS, WORD);
    ws_limbs_reduce_once(r->limbs, sum, 0, prime, LIMBS);
}

void ws_secp160r1_square(ws_secp160r1_element *r, const ws_secp160r1_element *a)
{
    ws_secp160r1_multiply(r, a, a);
}

void ws_secp160r1_add(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b)
{
    ws_limb carry = ws_limbs_add(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_reduce_once(r->limbs, r->limbs, carry, prime, LIMBS);
}

void ws_secp160r1_subtract(ws_secp160r1_element *r, const ws_secp160r1_element *a, const ws_secp160r1_element *b)
{
    ws_limb sum[LIMBS];
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_add(sum, r->limbs, prime, LIMBS);
    ws_limbs_choose(r->limbs, sum, r->limbs, borrow, LIMBS);
}
