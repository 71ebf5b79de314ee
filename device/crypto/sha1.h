/* SHA-1, FIPS 180-4 section 6.1.
 *
 * Message limit: less than 2^61 bytes. Constant time for a given length. */
#ifndef WS_SHA1_H
#define WS_SHA1_H

#include <stddef.h>
#include <stdint.h>

/* A hash under way. Its members are the implementation's. Holds message bytes until ws_sha1_final wipes it. */
typedef struct {
    uint32_t state[5];
    /* Bytes hashed so far: low and high word. Two words, because 64-bit arithmetic is dear on 8 and 16 bits. */
    uint32_t length[2];
    uint8_t block[64];
} ws_sha1_ctx;

/* Begins a hash. out: ctx. */
void ws_sha1_init(ws_sha1_ctx *ctx);

/* Adds len bytes. in: in, any alignment, anything when len is 0. in/out: ctx, begun and not finished. */
void ws_sha1_update(ws_sha1_ctx *ctx, const uint8_t *in, size_t len);

/* Finishes. in/out: ctx, wiped: begin again before the next use. out: digest, any alignment. */
void ws_sha1_final(ws_sha1_ctx *ctx, uint8_t digest[20]);

/* The same in one call. in: in: len bytes. out: digest; may overlap in. */
void ws_sha1(const uint8_t *in, size_t len, uint8_t digest[20]);

/* The compression function over whole blocks: what a kernel replaces.
 *
 * in:     data: 64 blocks bytes, any alignment.
 * in/out: state: the hash value H, words in the processor's byte order, 4-byte aligned.
 * Constant time for a given number of blocks. */
void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks);

#endif
