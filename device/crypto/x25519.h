/* X25519, RFC 7748 section 5: key agreement on Curve25519.
 *
 * Constant time, except that ws_x25519 shows whether it accepted. RAM: none. Stack: seven elements of 32 bytes and a product
 * of 64, beside the frames. */
#ifndef WS_X25519_H
#define WS_X25519_H

#include <stdint.h>

/* What a private key and another's public key have in common. It is no key yet: derive one (hkdf.h).
 *
 * in:  scalar: the private key, any 32 bytes; point: the other's public key. Any alignment.
 * out: shared: may be scalar or point.
 * Returns 0, or -1 where the public key is of a small order, so that all of shared is 0 whatever the private key (section 6.1). */
int ws_x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t shared[32]);

/* The public key of a private one. in: scalar: any 32 bytes. out: public_key; may be scalar. */
void ws_x25519_public_key(const uint8_t scalar[32], uint8_t public_key[32]);

#endif
