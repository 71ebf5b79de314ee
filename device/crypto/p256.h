/* Keys of curve P-256 (SP 800-186 section 3.2.1.3), and the secret that two of them share.
 *
 * Byte strings are big-endian, of fixed lengths and any alignment: a private key is a number from 1 to n - 1 in 32 bytes, a
 * public key x and y of a point, 32 bytes each. All functions that return int return 0, or -1 when they refuse; then what
 * they would have written is zero. What is secret is wiped from their frames. Constant time means that neither branches,
 * addresses nor times depend on private keys.
 *
 * Stack: work areas of 264 bytes to make keys, 224 for a public key, 736 for a shared secret, beside the frames. */
#ifndef WS_P256_H
#define WS_P256_H

#include "drbg.h"

#include <stddef.h>
#include <stdint.h>

/* Makes a pair of keys: FIPS 186-5 section A.2.1 (extra random bits), with 40 bytes of one ws_drbg_generate without
 * additional input, as a big-endian number c: the private key is (c mod (n - 1)) + 1.
 *
 * Refused where ws_drbg_generate refuses. Constant time. */
int ws_p256_keygen(ws_drbg *random, uint8_t private_key[32], uint8_t public_key[64]);

/* The public key of a private one. Refused: 0, or n and above. Constant time. */
int ws_p256_public_key(const uint8_t private_key[32], uint8_t public_key[64]);

/* The shared secret: x of the private key times the public one (SP 800-56A section 5.7.1.2). Wants a key derivation.
 *
 * Refused: a public key that ws_p256_validate refuses, a private key of 0, or n and above. Constant time. */
int ws_p256_ecdh(const uint8_t private_key[32], const uint8_t public_key[64], uint8_t shared[32]);

/* Whether a public key is a point of the curve with x and y below p (SP 800-56A section 5.6.2.3.3; every point but
 * infinity, which 64 bytes cannot say, has order n): 0, or -1. */
int ws_p256_validate(const uint8_t public_key[64]);

/* The compressed form: 2, or 3 where y is odd, and x (SEC 1 version 2, section 2.3.3). */
void ws_p256_compress(const uint8_t public_key[64], uint8_t compressed[33]);

/* The public key of a compressed form. Refused: a first byte that is neither, an x of no point, or not below p. public_key
 * is outside compressed. */
int ws_p256_decompress(const uint8_t compressed[33], uint8_t public_key[64]);

/* The public key in a string of len bytes (SEC 1 version 2, section 2.3.4): 4, x and y; or the compressed form. Refused: all
 * else, infinity too, and what validate or decompress refuse. public_key is outside in. */
int ws_p256_decode(const uint8_t *in, size_t len, uint8_t public_key[64]);

#endif
