/* SHA-384, FIPS 180-4 section 6.5: SHA-512 from another initial value, of which 48 bytes count.
 *
 * A hash under way is one of SHA-512: ws_sha512_update adds to it.
 * Message limit: less than 2^61 bytes. Constant time for a given length. */
#ifndef WS_SHA384_H
#define WS_SHA384_H

#include "sha512.h"

/* Begins a hash. out: ctx. */
void ws_sha384_init(ws_sha512_ctx *ctx);

/* Finishes. in/out: ctx, wiped: begin again before the next use. out: digest, any alignment. */
void ws_sha384_final(ws_sha512_ctx *ctx, uint8_t digest[48]);

/* The same in one call. in: in: len bytes. out: digest; may overlap in. */
void ws_sha384(const uint8_t *in, size_t len, uint8_t digest[48]);

#endif
