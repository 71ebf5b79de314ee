#include "one_time_bench.h"

#include "compiler.h"

#define SCHEME ws_winternitz_w2
#define PIECES WS_WINTERNITZ_W2_PIECES
#define PUBLIC_KEY WS_WINTERNITZ_W2_PUBLIC_KEY
#include "one_time_bench.inc"
