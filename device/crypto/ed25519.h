/* Ed25519, RFC 8032 section 5.1 and FIPS 186-5 section 7: signatures on the Edwards form of Curve25519, with SHA-512.
 *
 * A private key is 32 random bytes, the seed; a public key is a point, 32 bytes; a signature is a point and a number below the
 * order L of the base point, 32 bytes each, all lowest byte first. Messages are signed as they are (not Ed25519ph), and lie
 * in memory: they are hashed twice.
 *
 * Constant time for a given len, in key generation and signing. Verification knows no secrets, and its time depends on all
 * that it is given. RAM: none. Stack: work areas of 450 bytes to sign, 930 to verify, beside the frames. */
#ifndef WS_ED25519_H
#define WS_ED25519_H

#include <stddef.h>
#include <stdint.h>

/* The public key of a seed, any 32 bytes. out: public_key; may be seed. */
void ws_ed25519_keygen(const uint8_t seed[32], uint8_t public_key[32]);

/* Signs len bytes; the same key and message give the same signature.
 *
 * in:  key: the seed, and the public key that ws_ed25519_keygen makes of it, and no other: two signatures of one message with
 *      one seed and two public keys give the private scalar away. message: any alignment, anything when len is 0.
 * out: signature; overlaps neither. Constant time. */
void ws_ed25519_sign(const uint8_t key[64], const uint8_t *message, size_t len, uint8_t signature[64]);

/* Whether the signature is of these len bytes by the owner of the key: 0, or -1. Overlaps are allowed.
 *
 * The equation is S B = R + k A, without the cofactor 8: sufficient by RFC 8032 section 5.1.7, and stricter than the
 * one with it, by which FIPS 186-5 section 7.7 verifies; signatures by ws_ed25519_sign fulfil both. R is not decoded but
 * compared with the bytes of S B - k A.
 * Refused: S not below L, which a signature could be changed to without its key (section 8.4); a public key whose y is
 * not below p, or that is no point, or has the sign of x = 0 set (section 5.1.3); R in any but the encoding of
 * section 5.1.2. A public key of a small order is accepted, as the RFC has it: a signature by it says
 * nothing.
 *
 * The twelve cases of ed25519-speccheck (K. Chalkias et al., "Taming the many EdDSAs", 2020):
 *
 *   0  A and R of small orders, S = 0                                accepted
 *   1  A of a small order                                            accepted
 *   2  R of a small order                                            accepted
 *   3  A and R with parts of small orders, which cancel out          accepted
 *   4  the same, where only the cofactor takes them away             refused
 *   5  the same, where 8 k must not be reduced                       refused
 *   6  S above L                                                     refused
 *   7  S far above L                                                 refused
 *   8  R of a small order with a y of p and above, hashed reduced    refused
 *   9  the same, hashed as it stands                                 refused
 *  10  A of a small order with a y of p and above, hashed reduced    refused
 *  11  the same, hashed as it stands                                 refused
 *
 * Where all parties must agree on every signature, or a key of a small order must not be taken, this is
 * not enough. */
int ws_ed25519_verify(const uint8_t public_key[32], const uint8_t *message, size_t len, const uint8_t signature[64]);

#endif
