#include "p256_field.h"

#define LIMBS WS_LIMBS(32)
/* Limbs of 32 bits, the step of p's exponents. */
#define WORD WS_LIMBS(4)

#if WS_LIMB_BITS == 8
typedef int16_t signed_limbs;
#elif WS_LIMB_BITS == 16
typedef int32_t signed_limbs;
#else
typedef int64_t signed_limbs;
#endif

static const ws_limb prime[LIMBS] = {
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0x00000000),
    WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0x00000001), WS_WORD(0xffffffff),
};

/* Adds to t, at its end, a multiple of p that clears its lowest limbs, as many as are told, at most 96 bits: with these
 * limbs as m, m p = m 2^256 - m 2^224 + m 2^192 + m 2^96 - m. Returns what is carried beyond t's 2 LIMBS - first limbs. */
static ws_limb clear(ws_limb *t, uint8_t cleared, uint8_t first)
{
    signed_limbs sum = 0;
    uint8_t i;

    for (i = 3 * WORD; i < 2 * LIMBS - first; i++) {
        sum += t[i];
        if ((uint8_t)(i - 3 * WORD) < cleared) {
            sum += t[i - 3 * WORD];
        }
        if ((uint8_t)(i - 6 * WORD) < cleared) {
            sum += t[i - 6 * WORD];
        }
        if ((uint8_t)(i - 7 * WORD) < cleared) {
            sum -= t[i - 7 * WORD];
        }
        if ((uint8_t)(i - 8 * WORD) < cleared) {
            sum += t[i - 8 * WORD];
        }
        t[i] = (ws_limb)sum;
        sum >>= WS_LIMB_BITS;
    }
    return (ws_limb)sum;
}

void ws_p256_multiply(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b)
{
    ws_limb t[2 * LIMBS];
    ws_limb carry;

    ws_limbs_multiply(t, a->limbs, b->limbs, LIMBS);
    carry = clear(t, 3 * WORD, 0);
    carry += clear(t + 3 * WORD, 3 * WORD, 3 * WORD);
    carry += clear(t + 6 * WORD, 2 * WORD, 6 * WORD);
    ws_limbs_reduce_once(r->limbs, t + LIMBS, carry, prime, LIMBS);
}

void ws_p256_square(ws_p256_element *r, const ws_p256_element *a)
{
    ws_p256_multiply(r, a, a);
}

void ws_p256_add(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b)
{
    ws_limb carry = ws_limbs_add(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_reduce_once(r->limbs, r->limbs, carry, prime, LIMBS);
}

void ws_p256_subtract(ws_p256_element *r, const ws_p256_element *a, const ws_p256_element *b)
{
    ws_limb sum[LIMBS];
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);

    ws_limbs_add(sum, r->limbs, prime, LIMBS);
    ws_limbs_choose(r->limbs, sum, r->limbs, borrow, LIMBS);
}
