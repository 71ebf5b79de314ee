/* AES, FIPS 197: key expansion and the block cipher, for 128, 192 and 256-bit keys.
 *
 * Constant flow: no branch depends on key or data. The portable C indexes the S-box by secret bytes; the table lives in
 * memory that answers alike at every address (table.h).
 *
 * Round keys are the words w[0].. of FIPS 197 section 5.2 in byte order, 16 (rounds + 1) bytes, at an address divisible
 * by 4. They are secrets: wipe them (secret.h). Nothing of the block, its states or the keys stays in RAM beside the arguments.
 * Registers are not wiped: what a call leaves in them is as secret as its arguments, and stays until they are used again. */
#ifndef WS_AES_H
#define WS_AES_H

#include "compiler.h"

#include <stddef.h>
#include <stdint.h>

#define WS_AES128_ROUND_KEYS 176
#define WS_AES192_ROUND_KEYS 208
#define WS_AES256_ROUND_KEYS 240

/* Expands a key.
 *
 * in:  key: 4 key_words bytes, any alignment; key_words: 4, 6 or 8.
 * out: round_keys: 16 (key_words + 7) bytes, 4-byte aligned, not overlapping key.
 * Constant time for a given key_words. */
void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words);

/* Encrypts one block.
 *
 * in:  round_keys from ws_aes_expand; rounds: 10, 12 or 14 for key_words 4, 6, 8; in: any alignment.
 * out: out: any alignment; may be the same as in, must not overlap it otherwise.
 * Constant time for a given rounds. */
void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16]);

/* Decrypts one block; everything else as for ws_aes_encrypt, with the same round keys. */
void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16]);

#if WS_AES_PREPARED

/* Makes of round keys those that ws_aes_decrypt_prepared takes: the decryption keys of FIPS 197
 * section 5.3.5, in the kernel's own order.
 *
 * in/out: round_keys from ws_aes_expand, for rounds as for ws_aes_encrypt; afterwards of no use to
 *         ws_aes_encrypt and ws_aes_decrypt.
 * Constant time for a given rounds. */
void ws_aes_prepare_decryption(uint8_t *round_keys, unsigned rounds);

/* Decrypts one block, with round keys from ws_aes_prepare_decryption; everything else as for
 * ws_aes_encrypt. */
void ws_aes_decrypt_prepared(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16]);

#else

/* The same where decryption takes the round keys as they are. */
WS_INLINE void ws_aes_prepare_decryption(uint8_t *round_keys, unsigned rounds)
{
    (void)round_keys, (void)rounds;
}

WS_INLINE void ws_aes_decrypt_prepared(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16],
                                       uint8_t out[16])
{
    ws_aes_decrypt(round_keys, rounds, in, out);
}

#endif

WS_INLINE void ws_aes128_expand(uint8_t round_keys[WS_AES128_ROUND_KEYS], const uint8_t key[16])
{
    ws_aes_expand(round_keys, key, 4);
}

WS_INLINE void ws_aes192_expand(uint8_t round_keys[WS_AES192_ROUND_KEYS], const uint8_t key[24])
{
    ws_aes_expand(round_keys, key, 6);
}

WS_INLINE void ws_aes256_expand(uint8_t round_keys[WS_AES256_ROUND_KEYS], const uint8_t key[32])
{
    ws_aes_expand(round_keys, key, 8);
}

WS_INLINE void ws_aes128_encrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_encrypt(round_keys, 10, in, out);
}

WS_INLINE void ws_aes192_encrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_encrypt(round_keys, 12, in, out);
}

WS_INLINE void ws_aes256_encrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_encrypt(round_keys, 14, in, out);
}

WS_INLINE void ws_aes128_decrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_decrypt(round_keys, 10, in, out);
}

WS_INLINE void ws_aes192_decrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_decrypt(round_keys, 12, in, out);
}

WS_INLINE void ws_aes256_decrypt(const uint8_t *round_keys, const uint8_t in[16], uint8_t out[16])
{
    ws_aes_decrypt(round_keys, 14, in, out);
}

#endif
