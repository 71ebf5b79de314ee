#include "one_time_bench.h"

#include "compiler.h"

#define SCHEME ws_lamport
#define PIECES WS_LAMPORT_PIECES
#define PUBLIC_KEY WS_LAMPORT_PUBLIC_KEY
#include "one_time_bench.inc"
