/* AES key wrap, RFC 3394 and NIST SP 800-38F section 6.2 (KW), with the default initial value.
 *
 * Constant time for given lengths and key size, except that ws_aes_key_unwrap shows whether it
 * accepted. RAM: none. Stack: the round keys (240 bytes) and a block, beside the frames. */
#ifndef WS_AES_KEY_WRAP_H
#define WS_AES_KEY_WRAP_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of key that can be wrapped at most. */
#define WS_AES_KEY_WRAP_MAX 4096

/* Wraps a key, with 12 blocks of AES for 16 bytes.
 *
 * in:  key: 4 key_words bytes, the key-encryption key; key_words: 4, 6 or 8; in: len bytes; len:
 *      16 to WS_AES_KEY_WRAP_MAX, divisible by 8. Any alignment.
 * out: out: len + 8 bytes, not overlapping anything.
 * Returns 0, or -1 and writes nothing when a length is none of these. */
int ws_aes_key_wrap(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t *out);

/* Unwraps a key.
 *
 * in:  as for ws_aes_key_wrap, in: len + 8 bytes; len: the bytes of the key within.
 * out: out: len bytes, not overlapping anything.
 * Returns 0, or -1 when it is not what this key wrapped, which leaves zeros in out, or a length is
 * refused, which leaves out untouched. */
int ws_aes_key_unwrap(const uint8_t *key, unsigned key_words, const uint8_t *in, size_t len, uint8_t *out);

#endif
