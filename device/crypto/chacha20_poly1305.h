/* ChaCha20-Poly1305, RFC 8439 section 2.8, with 96-bit nonces and 128-bit tags.
 *
 * One key must never seal twice with the same nonce. At most 2^38 - 64 bytes of plaintext; more than a 32-bit size_t can say,
 * and refused where size_t is wider.
 *
 * Constant time for given lengths, except that ws_chacha20_poly1305_open shows whether it accepted.
 * RAM: none. */
#ifndef WS_CHACHA20_POLY1305_H
#define WS_CHACHA20_POLY1305_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts and authenticates.
 *
 * in:  key; nonce; aad: aad_len bytes; in: len bytes. Any alignment.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise; tag. Nothing else may overlap them.
 * A pointer may be anything when its length is 0.
 * Returns 0, or -1 and writes nothing when len is beyond the limit. */
int ws_chacha20_poly1305_seal(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                              const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16]);

/* Verifies and decrypts.
 *
 * in:  as for ws_chacha20_poly1305_seal, in: the ciphertext; tag.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise, nor anything else.
 * Returns 0, or -1 when the tag does not fit or len is beyond the limit; out is untouched then. */
int ws_chacha20_poly1305_open(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                              const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out);

#endif
