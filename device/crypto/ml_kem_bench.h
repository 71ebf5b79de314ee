/* ML-KEM by pieces as a meter would have it, for the bench: what is read in flash, what is written kept nowhere.
 *
 * A public key or a ciphertext that is written is folded into the 32 bytes that ws_bench_output begins with, so that one comparison says
 * whether all of its pieces were right and in their order: for its byte i, folded[i mod 32] = 3 folded[i mod 32] + (byte xor i / 32), modulo
 * 256, and folded[] = 0 at first. Encapsulation's shared secret is to lie behind that. It takes less than a hundredth of the time of it
 * all. */
#ifndef WS_ML_KEM_BENCH_H
#define WS_ML_KEM_BENCH_H

#include "ml_kem_pieces.h"
#include "table.h"

#define WS_BENCH_STORED (WS_ML_KEM_512_PUBLIC_KEY + WS_ML_KEM_512_CIPHERTEXT)

/* What the host writes: the public key and, to be decapsulated, the ciphertext. */
WS_CONSTANT("ws_bench_stored")
extern const uint8_t ws_bench_stored[WS_BENCH_STORED];

extern uint8_t ws_bench_output[];

#endif
