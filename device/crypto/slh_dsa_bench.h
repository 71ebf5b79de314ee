/* SLH-DSA whole, in one call: for the bench, whose signature to be verified lies where a received image's would, in flash. What includes this
 * says how long that is. */
#ifndef WS_SLH_DSA_BENCH_H
#define WS_SLH_DSA_BENCH_H

#include "slh_dsa_verify.h"
#include "table.h"

/* What the host writes: a signature. */
WS_CONSTANT("ws_bench_stored")
extern const uint8_t ws_bench_stored[];

/* All of slh_dsa_verify.h, with the signature of signature_len bytes taken in pieces of 16. in: message: len bytes. Returns 0, or -1 where
 * the signature is not good. */
int ws_slh_dsa_verify_all(uint8_t set, uint16_t signature_len, const uint8_t public_key[WS_SLH_DSA_PUBLIC_KEY], const uint8_t *context,
                          size_t context_len, const uint8_t *message, size_t len);

#endif
