/* The 20 rounds of ChaCha20, RFC 8439 section 2.3: of the block function all but the addition of the state before them.
 * Constant time. A kernel replaces chacha20_rounds.c. */
#ifndef WS_CHACHA20_ROUNDS_H
#define WS_CHACHA20_ROUNDS_H

#include <stdint.h>

/* in/out: state: the 16 words, aligned as uint32_t is. */
void ws_chacha20_rounds(uint32_t state[16]);

#endif
