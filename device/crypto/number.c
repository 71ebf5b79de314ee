#include "number.h"

#include "secret.h"

#define LIMB_BYTES (WS_LIMB_BITS / 8)

void ws_number_read(ws_limb *r, uint8_t n, const uint8_t *in, uint8_t len)
{
    uint8_t i;

    for (i = 0; i < n; i++) {
        r[i] = 0;
    }
    for (i = 0; len != 0; i++) {
        len--;
        r[i / LIMB_BYTES] |= (ws_limb)((ws_limb)in[len] << (8 * (i % LIMB_BYTES)));
    }
}

void ws_number_write(uint8_t *out, uint8_t len, const ws_limb *a)
{
    uint8_t i;

    for (i = 0; len != 0; i++) {
        len--;
        out[len] = (uint8_t)(a[i / LIMB_BYTES] >> (8 * (i % LIMB_BYTES)));
    }
}

uint8_t ws_number_is_zero(const ws_limb *a, uint8_t n)
{
    ws_limb bits = 0;
    uint8_t i;

    for (i = 0; i < n; i++) {
        bits |= a[i];
    }
    /* Only 0 - 1 borrows. */
    return (uint8_t)(((ws_two_limbs)bits - 1u) >> WS_LIMB_BITS) & 1;
}

uint8_t ws_number_below(const ws_limb *a, const ws_limb *b, uint8_t n)
{
    ws_limb borrow = 0;
    uint8_t i;

    for (i = 0; i < n; i++) {
        borrow = (ws_limb)(((ws_two_limbs)a[i] - b[i] - borrow) >> WS_LIMB_BITS) & 1;
    }
    return (uint8_t)borrow;
}

/* Byte by byte: r = 256 r + byte, less the order - 1 as often as it may be contained, once too often at most, and that put
 * right. How often it is contained follows from what r has above the power of 2^32 beside the order. */
void ws_number_scalar(ws_limb *r, const uint8_t *in, uint8_t len, const ws_modulus *order)
{
    const uint8_t n = WS_LIMBS(order->bytes);
    const uint8_t below_power = order->bits % 32 == 0;
    const uint8_t low = WS_LIMBS(order->bits / 32 * 4);
    /* What the order has above its limbs below the power. */
    const uint8_t order_top = !below_power;
    ws_limb one = 1;
    uint8_t top = 0;
    uint8_t i;

    for (i = 0; i < n; i++) {
        r[i] = 0;
    }
    while (len != 0) {
        uint16_t times;
        ws_limb carry = *in++;
        ws_limb borrow = 0;
        ws_limb mask;
        uint16_t rest;

        len--;
        for (i = 0; i < low; i++) {
            const ws_limb limb = r[i];

#if WS_LIMB_BITS == 8
            r[i] = carry;
            carry = limb;
#else
            r[i] = (ws_limb)(limb << 8 | carry);
            carry = (ws_limb)(limb >> (WS_LIMB_BITS - 8));
#endif
        }
        /* At most 256. Below the power, times (power - order + 1) is far below the order, so that one more is too many by
         * one at most; above it, the order - 1 is contained as often as the power is, or once less. */
        rest = (uint16_t)((uint16_t)((uint16_t)top << 8) + (uint16_t)carry);
        times = (uint16_t)(rest + below_power);
        carry = 0;
        for (i = 0; i < low; i++) {
            const ws_limb limb = (ws_limb)(order->modulus[i] - (i == 0));
            const ws_two_limbs product = (ws_two_limbs)((ws_two_limbs)limb * times + carry);
            const ws_two_limbs difference = (ws_two_limbs)((ws_two_limbs)r[i] - (ws_limb)product - borrow);

            r[i] = (ws_limb)difference;
            borrow = (ws_limb)(difference >> WS_LIMB_BITS) & 1;
            carry = (ws_limb)(product >> WS_LIMB_BITS);
        }
        rest = (uint16_t)(rest - (uint16_t)carry - (uint16_t)borrow - (order_top ? times : 0));
        /* 0, 1, or -1. */
        mask = (ws_limb)(0 - (ws_limb)ws_secret_bit((uint8_t)(rest >> 15)));
        carry = 0;
        for (i = 0; i < low; i++) {
            const ws_limb limb = (ws_limb)(order->modulus[i] - (i == 0));
            const ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)r[i] + (limb & mask) + carry);

            r[i] = (ws_limb)sum;
            carry = (ws_limb)(sum >> WS_LIMB_BITS);
        }
        top = (uint8_t)(rest + (uint16_t)carry + (order_top & (uint8_t)mask));
    }
    if (!below_power) {
        r[low] = top;
    }
    for (i = 0; i < n; i++) {
        const ws_two_limbs sum = (ws_two_limbs)((ws_two_limbs)r[i] + one);

        r[i] = (ws_limb)sum;
        one = (ws_limb)(sum >> WS_LIMB_BITS);
    }
}
