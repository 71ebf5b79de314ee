#include "x25519_field.h"

#include "secret.h"

#define LIMBS WS_LIMBS(32)

/* r = a + 38 carry, where 2^256 is 38; below 2^256. carry is below 2^7. */
static void fold(ws_limb *r, const ws_limb *a, ws_limb carry)
{
    uint8_t twice;
    uint8_t i;

    /* Where the first addition carries, what is left is below 38 * 128: the second does not. */
    for (twice = 0; twice < 2; twice++) {
        ws_two_limbs sum = (ws_two_limbs)carry * 38u;

        for (i = 0; i < LIMBS; i++) {
            sum = (ws_two_limbs)(sum + a[i]);
            r[i] = (ws_limb)sum;
            sum >>= WS_LIMB_BITS;
        }
        carry = (ws_limb)sum;
        a = r;
    }
}

/* r = low + 38 high, of LIMBS limbs each; low and high lie one behind the other. */
static void reduce(ws_limb *r, const ws_limb *product)
{
    ws_limb carry = 0;
    uint8_t i;

    for (i = 0; i < LIMBS; i++) {
        ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)product[LIMBS + i] * 38u + product[i] + carry);

        r[i] = (ws_limb)sum;
        carry = (ws_limb)(sum >> WS_LIMB_BITS);
    }
    fold(r, r, carry);
}

void ws_x25519_multiply(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
{
    ws_limb product[2 * LIMBS];

    ws_limbs_multiply(product, a->limbs, b->limbs, LIMBS);
    reduce(r->limbs, product);
}

void ws_x25519_square(ws_x25519_element *r, const ws_x25519_element *a)
{
    ws_x25519_multiply(r, a, a);
}

void ws_x25519_multiply_121665(ws_x25519_element *r, const ws_x25519_element *a)
{
    ws_limb product[2 * LIMBS];
    uint8_t i;
    uint8_t j;

    for (i = 0; i < 2 * LIMBS; i++) {
        product[i] = 0;
    }
    for (i = 0; i < WS_LIMBS(4); i++) {
        const ws_limb limb = (ws_limb)(121665ul >> (WS_LIMB_BITS * i));
        ws_limb carry = 0;

        for (j = 0; j < LIMBS; j++) {
            ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)limb * a->limbs[j] + product[i + j] + carry);

            product[i + j] = (ws_limb)sum;
            carry = (ws_limb)(sum >> WS_LIMB_BITS);
        }
        product[i + LIMBS] = carry;
    }
    reduce(r->limbs, product);
}

void ws_x25519_add(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
{
    ws_limb carry = ws_limbs_add(r->limbs, a->limbs, b->limbs, LIMBS);

    fold(r->limbs, r->limbs, carry);
}

void ws_x25519_subtract(ws_x25519_element *r, const ws_x25519_element *a, const ws_x25519_element *b)
{
    ws_limb borrow = ws_limbs_subtract(r->limbs, a->limbs, b->limbs, LIMBS);
    uint8_t twice;
    uint8_t i;

    /* 2^256 was borrowed, which is 38; where that borrows again, what is left is close below 2^256. */
    for (twice = 0; twice < 2; twice++) {
        borrow = (ws_limb)(borrow * 38u);
        for (i = 0; i < LIMBS; i++) {
            ws_two_limbs difference = (ws_two_limbs)((ws_two_limbs)r->limbs[i] - borrow);

            r->limbs[i] = (ws_limb)difference;
            borrow = (ws_limb)(difference >> WS_LIMB_BITS) & 1;
        }
    }
}

void ws_x25519_exchange(ws_x25519_element *a, ws_x25519_element *b, uint8_t swap)
{
    const ws_limb mask = (ws_limb)(0 - (ws_limb)ws_secret_bit(swap));
    uint8_t i;

    for (i = 0; i < LIMBS; i++) {
        ws_limb difference = (ws_limb)((a->limbs[i] ^ b->limbs[i]) & mask);

        a->limbs[i] ^= difference;
        b->limbs[i] ^= difference;
    }
}
