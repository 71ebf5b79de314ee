/* Squares of squares in the field of X25519: what powers are made of (x25519_powers.h). */
#ifndef WS_X25519_SQUARES_H
#define WS_X25519_SQUARES_H

#include "x25519_field.h"

#include <stdint.h>

/* r = a^(2^times). in: times: not 0, public. Constant time. A kernel replaces x25519_squares.c,
 * which is this function. */
void ws_x25519_square_often(ws_x25519_element *r, const ws_x25519_element *a, uint8_t times);

#endif
