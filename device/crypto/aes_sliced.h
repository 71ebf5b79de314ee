/* AES-128 in counter mode without tables: what ECIES encrypts with, so that not even the addresses of data depend on a
 * secret. In C for a message of a block or two; aes_ctr.h is many times faster for others.
 *
 * In C the block stands as eight planes of 16 bits, plane b with bit b of each byte, and SubBytes is the circuit of J. Boyar
 * and R. Peralta ("A small depth-16 circuit for the AES S-box", SEC 2012) on whole planes. Round keys are made on the way,
 * anew for each block. A kernel replaces aes_sliced.c. */
#ifndef WS_AES_SLICED_H
#define WS_AES_SLICED_H

#include <stddef.h>
#include <stdint.h>

/* Encrypts or decrypts len bytes; SP 800-38A section 6.5, with the standard incrementing function over all 128 bits
 * (appendix B.1). One key must never meet the same counter block twice.
 *
 * in:  key; iv: the first counter block, public; in: len bytes. Any alignment.
 * out: out: len bytes, any alignment; may be the same as in, must not overlap it otherwise, nor anything else.
 * Constant time for a given length, and the same addresses of data. What is secret is wiped from the frame. Stack: a work
 * area of 80 bytes, beside the frames; on ARMv7-M in fast 516 bytes in all. */
void ws_aes128_ctr_sliced(const uint8_t key[16], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len);

#endif
