/* Ascon-Hash256, Ascon-XOF128 and Ascon-CXOF128, NIST SP 800-232 section 5.
 *
 * Constant time for given lengths. A function of these and its context:
 *
 *     ws_ascon_hash256_init, ws_ascon_xof128_init or ws_ascon_cxof128_init
 *     ws_ascon_absorb, as often as there are pieces of the message
 *     ws_ascon_squeeze, as often as there are pieces of the output: 32 bytes together for Ascon-Hash256, any number else
 *
 * The bytes are the same however they are cut into pieces. */
#ifndef WS_ASCON_HASH_H
#define WS_ASCON_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A hash under way. Its members are the implementation's. Holds what its message was mixed to: wipe it (secret.h) where that is
 * a secret. */
typedef struct {
    uint32_t state[10];
    /* Bytes of a block absorbed, or squeezed and given out. */
    uint8_t used;
    uint8_t squeezing;
} ws_ascon_ctx;

/* Begins Ascon-Hash256. out: ctx. */
void ws_ascon_hash256_init(ws_ascon_ctx *ctx);

/* Begins Ascon-XOF128. out: ctx. */
void ws_ascon_xof128_init(ws_ascon_ctx *ctx);

/* Begins Ascon-CXOF128. in: label: len bytes, at most 256: the customization string. out: ctx.
 * Returns 0, or -1 and begins nothing when the string is longer. */
int ws_ascon_cxof128_init(ws_ascon_ctx *ctx, const uint8_t *label, size_t len);

/* Adds len bytes to the message. in: in, any alignment, anything when len is 0. in/out: ctx, begun and not yet squeezed. */
void ws_ascon_absorb(ws_ascon_ctx *ctx, const uint8_t *in, size_t len);

/* Gives the next len bytes of the output. in/out: ctx, begun. out: out, any alignment, anything when len is 0. */
void ws_ascon_squeeze(ws_ascon_ctx *ctx, uint8_t *out, size_t len);

/* Ascon-Hash256 in one call. in: in: len bytes. out: digest; may overlap in. */
void ws_ascon_hash256(const uint8_t *in, size_t len, uint8_t digest[32]);

#endif
