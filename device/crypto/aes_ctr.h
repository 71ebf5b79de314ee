/* AES in counter mode, NIST SP 800-38A section 6.5, with the standard incrementing function over all 128 bits
 * (appendix B.1).
 *
 * One key must never meet the same counter block twice. Constant time for given lengths and key size; the counter
 * block is public. */
#ifndef WS_AES_CTR_H
#define WS_AES_CTR_H

#include "aes.h"

/* Encrypts or decrypts len bytes.
 *
 * in:     round_keys, rounds: as for ws_aes_encrypt; in: len bytes, any alignment.
 * in/out: counter: the big-endian counter block of the first block; advanced by one for each block begun, so that a
 *         call with a multiple of 16 bytes can be continued by another. The key stream left of a last, partial block is
 *         lost. Must not overlap in or out.
 * out:    out: len bytes, any alignment; may be the same as in, must not overlap it otherwise. */
void ws_aes_ctr(const uint8_t *round_keys, unsigned rounds, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                size_t len);

/* The same in one call, key expansion included. Neither round keys nor key stream stay in RAM.
 *
 * in:  key; iv: the first counter block; in: len bytes. out: out: as for ws_aes_ctr. Nothing else may overlap out. */
void ws_aes128_ctr(const uint8_t key[16], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len);
void ws_aes192_ctr(const uint8_t key[24], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len);
void ws_aes256_ctr(const uint8_t key[32], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len);

#endif
