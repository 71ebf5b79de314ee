/* Inverses and square roots modulo p = 2^255 - 19, by powers: what X25519 and Ed25519 have beside x25519_field.h.
 *
 * a, b, c and d are destroyed; all five are different. Constant time. */
#ifndef WS_X25519_POWERS_H
#define WS_X25519_POWERS_H

#include "x25519_field.h"

/* z = 1 / z, as z^(p - 2); 0 of 0. */
void ws_x25519_invert(ws_x25519_element *z, ws_x25519_element *a, ws_x25519_element *b, ws_x25519_element *c, ws_x25519_element *d);

/* z = z^((p - 5) / 8), of which RFC 8032 section 5.1.3 makes a square root. */
void ws_x25519_root_power(ws_x25519_element *z, ws_x25519_element *a, ws_x25519_element *b, ws_x25519_element *c,
                          ws_x25519_element *d);

#endif
