/* The parts of HMAC_DRBG, NIST SP 800-90A Rev. 1 section 10.1.2, with SHA-256, SHA-384 and SHA-1: what drbg.h is made of, and the
 * nonces of ECDSA, which RFC 6979 section 3.2 draws from the same generator.
 *
 * They do not count requests. Constant time for given lengths. Stack: one HMAC context, beside the frames. */
#ifndef WS_HMAC_DRBG_H
#define WS_HMAC_DRBG_H

#include <stddef.h>
#include <stdint.h>

/* A part of a joined string: len bytes at data, any alignment; data may be anything when len is 0. */
typedef struct {
    const uint8_t *data;
    size_t len;
} ws_piece;

/* Key and V of the standard (K and V of RFC 6979): secrets, to be wiped. */
typedef struct {
    uint8_t key[32];
    uint8_t v[32];
} ws_hmac_drbg_sha256;

typedef struct {
    uint8_t key[20];
    uint8_t v[20];
} ws_hmac_drbg_sha1;

typedef struct {
    uint8_t key[48];
    uint8_t v[48];
} ws_hmac_drbg_sha384;

/* Instantiates with the join of count pieces as seed material: section 10.1.2.3; steps b to g of RFC 6979 section 3.2.
 *
 * in: pieces: outside state. out: state. */
void ws_hmac_drbg_sha256_instantiate(ws_hmac_drbg_sha256 *state, const ws_piece *pieces, uint8_t count);
void ws_hmac_drbg_sha1_instantiate(ws_hmac_drbg_sha1 *state, const ws_piece *pieces, uint8_t count);
void ws_hmac_drbg_sha384_instantiate(ws_hmac_drbg_sha384 *state, const ws_piece *pieces, uint8_t count);

/* HMAC_DRBG_Update of section 10.1.2.2, with the join of count pieces as provided data; pieces of no bytes at all are Null.
 * With none: what RFC 6979 section 3.2 step h does before it draws again.
 *
 * in: pieces: outside state; anything when count is 0. in/out: state. */
void ws_hmac_drbg_sha256_update(ws_hmac_drbg_sha256 *state, const ws_piece *pieces, uint8_t count);
void ws_hmac_drbg_sha1_update(ws_hmac_drbg_sha1 *state, const ws_piece *pieces, uint8_t count);
void ws_hmac_drbg_sha384_update(ws_hmac_drbg_sha384 *state, const ws_piece *pieces, uint8_t count);

/* Step 4 of section 10.1.2.5 alone, and of RFC 6979 section 3.2 step h the inner loop: len bytes of the blocks V. Whoever
 * draws has to update before the next output.
 *
 * in/out: state. out: out: any alignment, outside state. */
void ws_hmac_drbg_sha256_output(ws_hmac_drbg_sha256 *state, uint8_t *out, size_t len);
void ws_hmac_drbg_sha1_output(ws_hmac_drbg_sha1 *state, uint8_t *out, size_t len);
void ws_hmac_drbg_sha384_output(ws_hmac_drbg_sha384 *state, uint8_t *out, size_t len);

#endif
