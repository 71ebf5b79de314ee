/* The secret that two keys of curve P-224 share (SP 800-186 section 3.2.1.2).
 *
 * For comparison with published figures; new designs take P-256 or X25519. Byte strings are
 * big-endian, of any alignment: a private key is a number from 1 to n - 1 in 28 bytes, a public key
 * x and y of a point, 28 bytes each. What is secret is wiped from the frames. Constant time means
 * that neither branches, addresses nor times depend on private keys.
 *
 * Stack: a work area of 644 bytes beside the frames. */
#ifndef WS_P224_H
#define WS_P224_H

#include <stdint.h>

/* Whether a public key is a point of the curve with x and y below p (SP 800-56A section 5.6.2.3.3;
 * every point but infinity, which 56 bytes cannot say, has order n): 0, or -1. */
int ws_p224_validate(const uint8_t public_key[56]);

/* The shared secret: x of the private key times the public one (SP 800-56A section 5.7.1.2). Wants
 * a key derivation.
 *
 * Returns 0, or -1, shared zeroed, for a public key that ws_p224_validate refuses, and a private
 * key of 0, or n and above. Constant time. */
int ws_p224_ecdh(const uint8_t private_key[28], const uint8_t public_key[56], uint8_t shared[28]);

#endif
