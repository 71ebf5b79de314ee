/* The permutation Keccak-f[1600], FIPS 202 section 3, and how bytes go in and out of its state.
 *
 * The state is 25 lanes of 64 bits, lane x + 5 y where the standard has (x, y), each two words in the processor's byte order:
 *
 * WS_KECCAK_INTERLEAVED 0  the lower half of the lane before the upper one
 * WS_KECCAK_INTERLEAVED 1  its bits at even places before those at odd ones: on processors of 32 bits, which turn such a lane by
 *                          turning two words
 *
 * Constant time for given lengths. RAM: none. Stack: 56 bytes and a frame. */
#ifndef WS_KECCAK_PERMUTATION_H
#define WS_KECCAK_PERMUTATION_H

#include <stdint.h>

#if defined(__arm__) || defined(__riscv)
#define WS_KECCAK_INTERLEAVED 1
#else
#define WS_KECCAK_INTERLEAVED 0
#endif

/* All 24 rounds: what a kernel replaces. in/out: state, 4-byte aligned. */
void ws_keccak_permute(uint32_t state[50]);

/* XORs len bytes into the state, from its byte `offset` on; offset + len is at most 200. in: in: any alignment. in/out: state. */
void ws_keccak_xor(uint32_t state[50], uint8_t offset, const uint8_t *in, uint8_t len);

/* Gives out len bytes of the state, from its byte `offset` on; offset + len is at most 200. out: out: any alignment. */
void ws_keccak_extract(const uint32_t state[50], uint8_t offset, uint8_t *out, uint8_t len);

#endif
