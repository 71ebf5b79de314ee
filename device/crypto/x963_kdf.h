/* The key derivation function of ANSI X9.63 (SEC 1 version 2.0 section 3.6.1) with SHA-256.
 *
 * Constant time for given lengths. Stack: one hash context and one digest, beside the frames. */
#ifndef WS_X963_KDF_H
#define WS_X963_KDF_H

#include <stddef.h>
#include <stdint.h>

/* Derives len bytes, fewer than 2^37 - 32.
 *
 * in:  z: z_len bytes, the shared secret; info: info_len bytes, and more: more_len bytes behind them: SharedInfo. Anything when
 *      their length is 0.
 * out: out; overlaps none of them. */
void ws_x963_kdf(const uint8_t *z, size_t z_len, const uint8_t *info, size_t info_len, const uint8_t *more,
                 size_t more_len, uint8_t *out, size_t len);

#endif
