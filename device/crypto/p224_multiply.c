/* The arithmetic for every modulus: a field of the prime's own would be more code. */
#include "p224_field.h"

void ws_p224_multiply(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b)
{
    ws_modular_multiply(r->limbs, a->limbs, b->limbs, &ws_p224_prime);
}

void ws_p224_square(ws_p224_element *r, const ws_p224_element *a)
{
    ws_p224_multiply(r, a, a);
}
