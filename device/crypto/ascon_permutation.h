/* The permutations Ascon-p, NIST SP 800-232 section 3, and how bytes go in and out of their state.
 *
 * The state S is ten words of 32 bits in the processor's byte order, the lower half of each of S0 to S4 before its upper half.
 * Constant time for given lengths. */
#ifndef WS_ASCON_PERMUTATION_H
#define WS_ASCON_PERMUTATION_H

#include <stdint.h>

/* The last `rounds` of the twelve rounds: what a kernel replaces. in/out: state, 4-byte aligned. in: rounds: 1 to 12. */
void ws_ascon_permute(uint32_t state[10], uint8_t rounds);

/* XORs len bytes into the state. in/out: state: from the word on that the bytes begin in. in: in: len bytes, any alignment. */
void ws_ascon_xor(uint32_t *state, const uint8_t *in, uint8_t len);

/* Gives out bytes of the state. in: state: from the word on that they begin in. out: out: len bytes, any alignment. */
void ws_ascon_extract(const uint32_t *state, uint8_t *out, uint8_t len);

/* XORs a bit one behind len bytes: the padding of section 2.1, of which the zeros change nothing. in/out: state. */
void ws_ascon_pad(uint32_t *state, uint8_t len);

#endif
