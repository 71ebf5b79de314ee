/* LMS signatures whole, in one call: for the bench, whose tree of height 5 lies in flash. */
#ifndef WS_LMS_SIGN_BENCH_H
#define WS_LMS_SIGN_BENCH_H

#include "lms_sign.h"
#include "table.h"

#define WS_BENCH_STORED (64 * 32)

/* What the host writes: the nodes of a tree by their numbers, the first 32 bytes unused. */
WS_CONSTANT("ws_bench_stored")
extern const uint8_t ws_bench_stored[WS_BENCH_STORED];

/* Signs with LMS_SHA256_M32_H5. The pieces behind the head are folded into the 32 bytes that follow it there: for piece i, of 4 bytes
 * with the last 28 of the piece before it, folded[j] = 3 folded[j] + (piece[j] xor i), modulo 256, and folded[] = 0 at first.
 *
 * in:  seed; name: I || u32str(q); randomizer; message: len bytes.
 * out: head: 40 bytes, and the 32. Returns as ws_lms_sign_begin. */
int ws_lms_sign_all(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME], const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                    const uint8_t *message, size_t len, uint8_t head[WS_LMS_HEAD + 32]);

#endif
