/* Calls a function of a user's own again and again, for `wattseal measure --call`.
 *
 * The host stops at ws_bench_ready, writes the arguments into the ws_bench_* variables of the
 * harness that it has written, and resumes: ws_bench_run calls the function once. */
#include "compiler.h"

void ws_bench_ready(void);
void ws_bench_run(void);

WS_NOINLINE void ws_bench_ready(void)
{
    WS_BARRIER();
}

int main(void)
{
    for (;;) {
        ws_bench_ready();
        ws_bench_run();
    }
}
