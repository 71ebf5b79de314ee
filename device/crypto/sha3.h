/* SHA-3 and SHAKE, FIPS 202.
 *
 * Constant time for given lengths. In one call, or piece by piece:
 *
 *     ws_sha3_init with the function's rate
 *     ws_sha3_absorb, as often as there are pieces of the message
 *     ws_sha3_finish with the function's suffix
 *     ws_sha3_squeeze, as often as there are pieces of the output
 *
 * The bytes are the same however they are cut into pieces. */
#ifndef WS_SHA3_H
#define WS_SHA3_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a block, table 3 and section 6.2; and what ends a message, sections 6.1 and 6.2, with the first bit of the padding. */
#define WS_SHA3_256_RATE 136
#define WS_SHA3_512_RATE 72
#define WS_SHAKE128_RATE 168
#define WS_SHAKE256_RATE 136
#define WS_SHA3_SUFFIX 0x06
#define WS_SHAKE_SUFFIX 0x1f

/* A function under way. Its members are the implementation's. Holds what its message was mixed to: wipe it (secret.h) where that
 * is a secret. */
typedef struct {
    uint32_t state[50];
    uint8_t rate;
    /* Bytes of a block absorbed, or squeezed and given out. */
    uint8_t used;
} ws_sha3_ctx;

/* Begins. in: rate: one of those above. out: ctx. */
void ws_sha3_init(ws_sha3_ctx *ctx, uint8_t rate);

/* Adds len bytes to the message. in: in, any alignment, anything when len is 0. in/out: ctx, begun and not yet finished. */
void ws_sha3_absorb(ws_sha3_ctx *ctx, const uint8_t *in, size_t len);

/* Ends the message. in: suffix: one of those above. in/out: ctx, begun and not yet finished. */
void ws_sha3_finish(ws_sha3_ctx *ctx, uint8_t suffix);

/* Gives the next len bytes of the output: of SHA-3 as many as its name says, of SHAKE any number. in/out: ctx, finished.
 * out: out, any alignment, anything when len is 0. */
void ws_sha3_squeeze(ws_sha3_ctx *ctx, uint8_t *out, size_t len);

/* In one call. in: in: len bytes. out: digest, or out_len bytes of output; may overlap in. */
void ws_sha3_256(const uint8_t *in, size_t len, uint8_t digest[32]);
void ws_sha3_512(const uint8_t *in, size_t len, uint8_t digest[64]);
void ws_shake128(const uint8_t *in, size_t len, uint8_t *out, size_t out_len);
void ws_shake256(const uint8_t *in, size_t len, uint8_t *out, size_t out_len);

#endif
