/* slh_dsa_bench.h for SLH-DSA-SHA2-128s. */
#ifndef WS_SLH_DSA_128S_BENCH_H
#define WS_SLH_DSA_128S_BENCH_H

#include "slh_dsa_bench.h"

#define WS_BENCH_STORED WS_SLH_DSA_SHA2_128S_SIGNATURE

#endif
