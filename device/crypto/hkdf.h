/* HKDF, RFC 5869, with SHA-256.
 *
 * Constant time for given lengths. Stack: one HMAC context and two digests, beside the frames. */
#ifndef WS_HKDF_H
#define WS_HKDF_H

#include <stddef.h>
#include <stdint.h>

/* Extracts and expands to len bytes.
 *
 * in:  salt: salt_len bytes; ikm: ikm_len bytes, the input keying material; info: info_len bytes. Anything when their
 *      length is 0; no salt is the same as 32 zero bytes.
 * out: out; overlaps none of them.
 * Returns 0, or -1, out zeroed, when len is more than 255 * 32 (section 2.3). */
int ws_hkdf_sha256(const uint8_t *salt, size_t salt_len, const uint8_t *ikm, size_t ikm_len, const uint8_t *info,
                   size_t info_len, uint8_t *out, size_t len);

#endif
