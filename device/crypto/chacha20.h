/* ChaCha20, RFC 8439 section 2.4: a 96-bit nonce and a 32-bit block counter.
 *
 * Never again the same key, nonce and counter. At most 2^32 - counter blocks of 64 bytes; beyond them the counter begins anew.
 * Constant time for a given length: additions, rotations and exclusive ors alone.
 * RAM: none. Stack: 128 bytes, beside the frames. */
#ifndef WS_CHACHA20_H
#define WS_CHACHA20_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts or decrypts.
 *
 * in:  key; nonce; counter: of the first block; in: len bytes, anything when len is 0. Any alignment.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise, nor key and nonce. */
void ws_chacha20(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, const uint8_t *in, uint8_t *out,
                 size_t len);

#endif
