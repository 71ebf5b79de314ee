/* AES by the processor's own module, a block at a time: ports/<port>/aes_module_<family>.c.
 *
 * Key and block go to the module and the result is waited for, all by the core. What the module
 * and the frame hold of them is erased. Byte strings have any alignment; in and out may be the
 * same. No time depends on key or block as far as the module's manual says. */
#ifndef WS_AES_MODULE_H
#define WS_AES_MODULE_H

#include <stdint.h>

/* Encrypts a block with a key of 128 bits.
 *
 * out: the ciphertext. Returns 0, or -1, out zeroed, when the module reports an error. */
int ws_aes128_module_encrypt(const uint8_t key[16], const uint8_t in[16], uint8_t out[16]);

/* The same with a key of 256 bits, where the module takes such. */
int ws_aes256_module_encrypt(const uint8_t key[32], const uint8_t in[16], uint8_t out[16]);

#endif
