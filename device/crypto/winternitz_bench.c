#include "one_time_bench.h"

#include "compiler.h"

#define SCHEME ws_winternitz
#define PIECES WS_WINTERNITZ_PIECES
#define PUBLIC_KEY WS_WINTERNITZ_PUBLIC_KEY
#include "one_time_bench.inc"
