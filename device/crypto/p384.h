/* Keys of curve P-384 (SP 800-186 section 3.2.1.4), and the secret that two of them share.
 *
 * Byte strings are big-endian, of fixed lengths and any alignment: a private key is a number from 1
 * to n - 1 in 48 bytes, a public key x and y of a point, 48 bytes each. All functions that return
 * int return 0, or -1 when they refuse; then what they would have written is zero. What is secret
 * is wiped from their frames. Constant time means that neither branches, addresses nor times depend
 * on private keys.
 *
 * Stack: work areas of 396 bytes to make keys, 340 for a public key, 1,108 for a shared secret,
 * beside the frames. */
#ifndef WS_P384_H
#define WS_P384_H

#include "drbg.h"

#include <stddef.h>
#include <stdint.h>

/* Makes a pair of keys: FIPS 186-5 section A.2.1 (extra random bits), with 56 bytes of one
 * ws_drbg_generate without additional input, as a big-endian number c: the private key is (c mod (n
 * - 1)) + 1.
 *
 * Refused where ws_drbg_generate refuses. Constant time. */
int ws_p384_keygen(ws_drbg *random, uint8_t private_key[48], uint8_t public_key[96]);

/* The public key of a private one. Refused: 0, or n and above. Constant time. */
int ws_p384_public_key(const uint8_t private_key[48], uint8_t public_key[96]);

/* The shared secret: x of the private key times the public one (SP 800-56A section 5.7.1.2). Wants
 * a key derivation.
 *
 * Refused: a public key that ws_p384_validate refuses, a private key of 0, or n and above. Constant
 * time. */
int ws_p384_ecdh(const uint8_t private_key[48], const uint8_t public_key[96], uint8_t shared[48]);

/* Whether a public key is a point of the curve with x and y below p (SP 800-56A section 5.6.2.3.3;
 * every point but infinity, which 96 bytes cannot say, has order n): 0, or -1. */
int ws_p384_validate(const uint8_t public_key[96]);

/* The compressed form: 2, or 3 where y is odd, and x (SEC 1 version 2, section 2.3.3). */
void ws_p384_compress(const uint8_t public_key[96], uint8_t compressed[49]);

/* The public key of a compressed form. Refused: a first byte that is neither, an x of no point, or
 * not below p. public_key is outside compressed. */
int ws_p384_decompress(const uint8_t compressed[49], uint8_t public_key[96]);

/* The public key in a string of len bytes (SEC 1 version 2, section 2.3.4): 4, x and y; or the
 * compressed form. Refused: all else, infinity too, and what validate or decompress refuse.
 * public_key is outside in. */
int ws_p384_decode(const uint8_t *in, size_t len, uint8_t public_key[96]);

#endif
