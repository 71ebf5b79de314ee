/* Ascon-AEAD128, NIST SP 800-232 section 4, with tags of 128 bits and without nonce masking.
 *
 * One key must never seal twice with the same nonce, and at most 2^54 bytes of plaintext, ciphertext and associated data may be
 * sealed or opened under one key (section 4.2).
 *
 * Constant time for given lengths, except that ws_ascon_aead128_open shows whether it accepted.
 * RAM: none. Stack: 40 bytes of state, 80 to open, beside the frames. */
#ifndef WS_ASCON_AEAD128_H
#define WS_ASCON_AEAD128_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts and authenticates.
 *
 * in:  key; nonce; aad: aad_len bytes; in: len bytes. Any alignment.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise; tag. Nothing else may overlap them.
 * A pointer may be anything when its length is 0. */
void ws_ascon_aead128_seal(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad, size_t aad_len,
                           const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16]);

/* Verifies and decrypts: once through the ciphertext for the tag, and only when that is right once more for the plaintext,
 * from the state before it. A message of up to 16 bytes takes no permutation more for this than one for each further 16.
 *
 * in:  as for ws_ascon_aead128_seal, in: the ciphertext; tag.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise, nor anything else.
 * Returns 0, or -1 when the tag does not fit; out is untouched then. */
int ws_ascon_aead128_open(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad, size_t aad_len,
                          const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out);

#endif
