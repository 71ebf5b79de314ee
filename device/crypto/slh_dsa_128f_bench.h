/* slh_dsa_bench.h for SLH-DSA-SHA2-128f. */
#ifndef WS_SLH_DSA_128F_BENCH_H
#define WS_SLH_DSA_128F_BENCH_H

#include "slh_dsa_bench.h"

#define WS_BENCH_STORED WS_SLH_DSA_SHA2_128F_SIGNATURE

#endif
