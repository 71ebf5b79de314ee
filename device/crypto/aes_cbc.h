/* AES in cipher block chaining mode, NIST SP 800-38A section 6.2, of whole blocks. Padding is the
 * caller's.
 *
 * It authenticates nothing: a receiver needs a code beside it. An initialisation vector must not
 * be predictable. Constant time for given lengths and key size. RAM: none. Stack: two blocks and
 * the frames. */
#ifndef WS_AES_CBC_H
#define WS_AES_CBC_H

#include "aes.h"

/* Encrypts blocks.
 *
 * in:     round_keys, rounds: as for ws_aes_encrypt; in: 16 blocks bytes, any alignment.
 * in/out: iv: the initialisation vector, afterwards the last block of ciphertext, with which a
 *         further call goes on. Must not overlap in or out.
 * out:    out: 16 blocks bytes, any alignment; may be the same as in, must not overlap it
 *         otherwise. */
void ws_aes_cbc_encrypt(const uint8_t *round_keys, unsigned rounds, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t blocks);

/* Decrypts blocks; everything else as for ws_aes_cbc_encrypt. */
void ws_aes_cbc_decrypt(const uint8_t *round_keys, unsigned rounds, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t blocks);

#endif
