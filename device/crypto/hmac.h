/* HMAC, FIPS 198-1, with SHA-256.
 *
 * Constant time for given lengths. */
#ifndef WS_HMAC_H
#define WS_HMAC_H

#include <stddef.h>
#include <stdint.h>

/* in:  key: key_len bytes, any length (longer than 64 is hashed first); in: len bytes, less than 2^61 - 64. Any
 *      alignment; a pointer may be anything when its length is 0.
 * out: mac; may overlap in and key. */
void ws_hmac_sha256(const uint8_t *key, size_t key_len, const uint8_t *in, size_t len, uint8_t mac[32]);

#endif
