/* AES-CCM, NIST SP 800-38C with the formatting of its appendix A.
 *
 * One key must never seal twice with the same nonce. A nonce of n bytes leaves 15 - n for the
 * length of the message.
 *
 * Constant time for given lengths and key size, except that ws_aes_ccm_open shows whether it
 * accepted. RAM: none. Stack: the round keys (240 bytes) and four blocks, beside the frames. */
#ifndef WS_AES_CCM_H
#define WS_AES_CCM_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts and authenticates, with two blocks of AES for each of the message.
 *
 * in:  key: 4 key_words bytes; key_words: 4, 6 or 8; nonce: nonce_len bytes, 7 to 13; aad: aad_len
 *      bytes; in: len bytes; tag_len: 4, 6, 8, 10, 12, 14 or 16. Any alignment.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise; tag: tag_len bytes.
 *      Nothing else may overlap them.
 * A pointer may be anything when its length is 0.
 * Returns 0, or -1 and writes nothing when a length is none of these, or the message is too long
 * for the nonce's. */
int ws_aes_ccm_seal(const uint8_t *key, unsigned key_words, const uint8_t *nonce, unsigned nonce_len,
                    const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t len, uint8_t *out, uint8_t *tag,
                    unsigned tag_len);

/* Verifies and decrypts, with three blocks of AES for each of the message: the code is one of the
 * plaintext, which is released after it has been compared.
 *
 * in:  as for ws_aes_ccm_seal, in: the ciphertext; tag.
 * out: out: len bytes, may be the same as in, must not overlap it otherwise, nor anything else.
 * Returns 0, or -1 when the tag does not fit or an argument is refused; out is untouched then. */
int ws_aes_ccm_open(const uint8_t *key, unsigned key_words, const uint8_t *nonce, unsigned nonce_len,
                    const uint8_t *aad, size_t aad_len, const uint8_t *in, size_t len, const uint8_t *tag,
                    unsigned tag_len, uint8_t *out);

#endif
