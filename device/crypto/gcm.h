/* AES-GCM, NIST SP 800-38D, with 96-bit nonces and 128-bit tags.
 *
 * One key must never seal twice with the same nonce. Limits of section 5.2.1.1: plaintext at most 2^36 - 32 bytes,
 * associated data at most 2^61 - 1 bytes; more than a 32-bit size_t can say, and refused where size_t is wider. At most
 * 2^32 messages under one key where nonces are random (section 8.3).
 *
 * Constant time for given lengths and key size, except that ws_aes_gcm_open shows whether it accepted.
 * RAM: none. Stack: the round keys (176, 208 or 240 bytes) and five blocks, beside the frames. */
#ifndef WS_GCM_H
#define WS_GCM_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts and authenticates.
 *
 * in:  key: 4 key_words bytes; key_words: 4, 6 or 8; nonce; aad: aad_len bytes; in: len bytes. Any alignment.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise; tag. Nothing else may overlap them.
 * A pointer may be anything when its length is 0.
 * Returns 0, or -1 and writes nothing when a length is beyond its limit or key_words is another number. */
int ws_aes_gcm_seal(const uint8_t *key, unsigned key_words, const uint8_t nonce[12], const uint8_t *aad,
                    size_t aad_len, const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16]);

/* Verifies and decrypts.
 *
 * in:  as for ws_aes_gcm_seal, in: the ciphertext; tag.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise, nor anything else.
 * Returns 0, or -1 when the tag does not fit or an argument is refused; out is untouched then. */
int ws_aes_gcm_open(const uint8_t *key, unsigned key_words, const uint8_t nonce[12], const uint8_t *aad,
                    size_t aad_len, const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out);

#endif
