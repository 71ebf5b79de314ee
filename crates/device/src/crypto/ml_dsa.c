/* Inline functions of ml_dsa_polynomial.h, for ml_dsa.rs. */
#include "ml_dsa_polynomial.h"

uint8_t ws_host_ml_dsa_decompose_88(int32_t a, int32_t *low);
uint8_t ws_host_ml_dsa_decompose_32(int32_t a, int32_t *low);
int32_t ws_host_ml_dsa_product(int32_t a, uint32_t factor);
int32_t ws_host_ml_dsa_product_of_halves(int32_t a, uint32_t factor);

uint8_t ws_host_ml_dsa_decompose_88(int32_t a, int32_t *low)
{
    return ws_ml_dsa_decompose_88(a, low);
}

uint8_t ws_host_ml_dsa_decompose_32(int32_t a, int32_t *low)
{
    return ws_ml_dsa_decompose_32(a, low);
}

int32_t ws_host_ml_dsa_product(int32_t a, uint32_t factor)
{
    return ws_ml_dsa_product(a, factor);
}

int32_t ws_host_ml_dsa_product_of_halves(int32_t a, uint32_t factor)
{
    return ws_ml_dsa_product_of_halves(a, factor);
}
