/* The chain of Fujdiak (2015), figure 3: two nodes agree on a key over P-256, and AES-128 encrypts a block under it.
 *
 * Constant time as p256.h and aes.h have it; what is secret is wiped from the frames. Stack: 48 bytes, beside the frames,
 * across the multiplication of a point. */
#ifndef WS_ECDH_AES_H
#define WS_ECDH_AES_H

#include <stdint.h>

/* Encrypts one block under the X9.63 KDF of the shared secret, 16 bytes, SharedInfo empty.
 *
 * The key is the same every time for two nodes, and a block alone hides no repetition: this is to be measured. ecies.h is to
 * be used.
 *
 * in:  private_key: one's own; public_key: the other node's; in. Any alignment.
 * out: out: may be the same as in, overlaps nothing otherwise.
 * Returns 0, or -1, out zeroed, when a key is not one. */
int ws_ecdh_aes128_encrypt(const uint8_t private_key[32], const uint8_t public_key[64], const uint8_t in[16],
                           uint8_t out[16]);

/* The same as the paper has it: the key is the first 16 bytes of the shared secret's x-coordinate, as they are. Not to be used:
 * x is not uniform bits; SP 800-56C wants a key derivation between. */
int ws_ecdh_aes128_encrypt_raw(const uint8_t private_key[32], const uint8_t public_key[64], const uint8_t in[16],
                               uint8_t out[16]);

#endif
