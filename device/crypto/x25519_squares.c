#include "x25519_squares.h"

void ws_x25519_square_often(ws_x25519_element *r, const ws_x25519_element *a, uint8_t times)
{
    for (; times != 0; times--) {
        ws_x25519_square(r, a);
        a = r;
    }
}
