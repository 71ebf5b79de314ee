/* HSS verification whole, in one call: for the bench, whose signature lies where a received image's would, in flash. */
#ifndef WS_HSS_BENCH_H
#define WS_HSS_BENCH_H

#include "hss.h"
#include "table.h"

/* Two levels, both with LMOTS_SHA256_N32_W8 and LMS_SHA256_M32_H5. */
#define WS_BENCH_STORED (4 + WS_LMS_SIGNATURE_W8_H5 + WS_LMS_PUBLIC_KEY + WS_LMS_SIGNATURE_W8_H5)

/* What the host writes: a signature. */
WS_CONSTANT("ws_bench_stored")
extern const uint8_t ws_bench_stored[WS_BENCH_STORED];

/* All of hss.h. in: message: len bytes. Returns 0, or -1 where the signature is not good. */
int ws_hss_verify_all(const uint8_t public_key[WS_HSS_PUBLIC_KEY], const uint8_t *message, size_t len);

#endif
