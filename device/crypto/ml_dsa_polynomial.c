#include "ml_dsa_polynomial.h"

void ws_ml_dsa_pack(uint8_t *out, const int32_t *numbers, uint8_t count, uint8_t bits)
{
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    /* Bits that are not written yet: fewer than 8, and a number. */
    uint32_t waiting = 0;
    uint8_t number = 0;

    for (; count != 0; count--) {
        waiting |= ((uint32_t)*numbers++ & mask) << number;
        number += bits;
        while (number >= 8) {
            *out++ = (uint8_t)waiting;
            waiting >>= 8;
            number -= 8;
        }
    }
}

void ws_ml_dsa_unpack(int32_t *numbers, const uint8_t *in, uint16_t count, uint8_t bits)
{
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    /* Bits that are read and not used yet. */
    uint32_t waiting = 0;
    uint8_t number = 0;

    for (; count != 0; count--) {
        while (number < bits) {
            waiting |= (uint32_t)*in++ << number;
            number += 8;
        }
        *numbers++ = (int32_t)(waiting & mask);
        waiting >>= bits;
        number -= bits;
    }
}

uint8_t ws_ml_dsa_sample(int32_t *coefficients, const uint8_t in[24])
{
    int32_t *const begin = coefficients;
    uint8_t i;

    for (i = 0; i < 8; i++) {
        const int32_t a = (int32_t)(in[0] | ((uint32_t)in[1] << 8) | ((uint32_t)(in[2] & 0x7f) << 16));

        if (a < WS_ML_DSA_Q) {
            *coefficients++ = a;
        }
        in += 3;
    }
    return (uint8_t)(coefficients - begin);
}
