/* SHA-512, FIPS 180-4 section 6.4.
 *
 * Message limit: less than 2^61 bytes. Constant time for a given length. */
#ifndef WS_SHA512_H
#define WS_SHA512_H

#include <stddef.h>
#include <stdint.h>

/* A hash under way. Its members are the implementation's. Holds message bytes until ws_sha512_final wipes it. */
typedef struct {
    /* Eight words of 64 bits, each as two of 32, the high one first. */
    uint32_t state[16];
    /* Bytes hashed so far: low and high word. */
    uint32_t length[2];
    uint8_t block[128];
} ws_sha512_ctx;

/* Begins a hash. out: ctx. */
void ws_sha512_init(ws_sha512_ctx *ctx);

/* Adds len bytes. in: in, any alignment, anything when len is 0. in/out: ctx, begun and not finished. */
void ws_sha512_update(ws_sha512_ctx *ctx, const uint8_t *in, size_t len);

/* Finishes. in/out: ctx, wiped: begin again before the next use. out: digest, any alignment. */
void ws_sha512_final(ws_sha512_ctx *ctx, uint8_t digest[64]);

/* The same in one call. in: in: len bytes. out: digest; may overlap in. */
void ws_sha512(const uint8_t *in, size_t len, uint8_t digest[64]);

/* The compression function over whole blocks: what a kernel replaces.
 *
 * in:     data: 128 blocks bytes, any alignment.
 * in/out: state: as ws_sha512_ctx has it, words in the processor's byte order, 4-byte aligned.
 * Constant time for a given number of blocks. */
void ws_sha512_blocks(uint32_t state[16], const uint8_t *data, size_t blocks);

#endif
