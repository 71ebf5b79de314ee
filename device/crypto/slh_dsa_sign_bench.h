/* SLH-DSA signatures whole, in one call: for the bench, which has no radio to send pieces by. */
#ifndef WS_SLH_DSA_SIGN_BENCH_H
#define WS_SLH_DSA_SIGN_BENCH_H

#include "slh_dsa_sign.h"

/* Signs deterministically, and folds the pieces into 16 bytes as one_time_bench.h does: for piece i, from R on, folded[j] = 3 folded[j] +
 * (piece[j] xor m), modulo 256, where m is i for even j and i / 4 for odd ones. in: as ws_slh_dsa_sign_begin. out: folded. Returns as that. */
int ws_slh_dsa_sign_all(uint8_t set, const uint8_t private_key[WS_SLH_DSA_PRIVATE_KEY], const uint8_t *context, size_t context_len,
                        const uint8_t *message, size_t len, uint8_t folded[WS_SLH_DSA_VALUE]);

#endif
