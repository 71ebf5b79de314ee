/* The one-step key derivation of NIST SP 800-56C revision 2, section 4.1, with SHA-256 (option 1).
 *
 * Constant time for given lengths. Stack: that of x963_kdf.h, beside a frame. */
#ifndef WS_SINGLE_STEP_KDF_H
#define WS_SINGLE_STEP_KDF_H

#include <stddef.h>
#include <stdint.h>

/* Derives len bytes, fewer than 2^37 - 32.
 *
 * in:  z: z_len bytes, the shared secret; info: info_len bytes, FixedInfo. Anything when their
 *      length is 0.
 * out: out; overlaps neither. */
void ws_single_step_kdf(const uint8_t *z, size_t z_len, const uint8_t *info, size_t info_len,
                        uint8_t *out, size_t len);

#endif
