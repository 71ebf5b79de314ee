#include "ml_kem_polynomial.h"

uint8_t ws_ml_kem_sample(int16_t *coefficients, const uint8_t in[24])
{
    int16_t *const begin = coefficients;
    uint8_t i;

    for (i = 0; i < 8; i++) {
        const int16_t a = (int16_t)(in[0] | ((uint16_t)(in[1] & 15) << 8));
        const int16_t b = (int16_t)((in[1] >> 4) | ((uint16_t)in[2] << 4));

        if (a < WS_ML_KEM_Q) {
            *coefficients++ = a;
        }
        if (b < WS_ML_KEM_Q) {
            *coefficients++ = b;
        }
        in += 3;
    }
    return (uint8_t)(coefficients - begin);
}
