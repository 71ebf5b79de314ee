/* ECDSA with curve P-384 and SHA-384: FIPS 186-5 section 6. Nonces are those of RFC 6979, bit for
 * bit.
 *
 * Keys and their bytes are those of p384.h; a signature is r and s, 48 bytes each, big-endian. All
 * functions return 0, or -1 when they refuse; then what they would have written is zero. What is
 * secret is wiped from their frames.
 *
 * Constant time for given lengths, in signing: neither branches, addresses nor times depend on
 * private keys, digests and nonces, but that a nonce of n and above, which comes up once in 2^194
 * times, is drawn again; nothing follows from that for those that are used. Verification knows no
 * secrets, and its time depends on all that it is given.
 *
 * Stack: work areas of 540 bytes to sign, 1,160 to verify, beside the frames. */
#ifndef WS_ECDSA_P384_H
#define WS_ECDSA_P384_H

#include <stddef.h>
#include <stdint.h>

/* Signs len bytes.
 *
 * in: message: any alignment, anything when len is 0. extra: additional data for the nonce, RFC
 * 6979 section 3.6: random bytes hedge against faults and leaks that repeat, and need not be
 * secret; anything when extra_len is 0, where the signature depends on key and message alone.
 * Neither overlaps signature. Refused: a private key of 0, or n and above. Constant time, as said
 * above. */
int ws_ecdsa_p384_sign(const uint8_t private_key[48], const uint8_t *message, size_t len,
                       const uint8_t *extra, size_t extra_len, uint8_t signature[96]);

/* The same where the message is hashed already. */
int ws_ecdsa_p384_sign_digest(const uint8_t private_key[48], const uint8_t digest[48],
                              const uint8_t *extra, size_t extra_len, uint8_t signature[96]);

/* Verifies a signature of len bytes by the owner of the key. Returns 0, or -1 where it is none.
 *
 * Refused: a public key that ws_p384_validate refuses; r or s 0, or n and above. */
int ws_ecdsa_p384_verify(const uint8_t public_key[96], const uint8_t *message, size_t len,
                         const uint8_t signature[96]);

/* The same where the message is hashed already. */
int ws_ecdsa_p384_verify_digest(const uint8_t public_key[96], const uint8_t digest[48],
                                const uint8_t signature[96]);

#endif
