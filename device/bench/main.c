/* Exposes one operation to be measured.
 *
 * The host stops at ws_bench_ready, writes the inputs into the ws_bench_* variables, and resumes: ws_bench_run executes
 * the operation once, and the program is back at ws_bench_ready. WS_BENCH_HEADER and WS_BENCH_CALL come from ops.toml;
 * without them this is the empty program that sizes are compared with. */
#include <stddef.h>
#include <stdint.h>

#ifdef WS_BENCH_HEADER
#include WS_BENCH_HEADER
#else
#define WS_BENCH_CALL ((void)0)
#endif

/* A quarter of the RAM, so that message and output leave half of it to the stack and the rest. */
#define QUARTER (WS_RAM_SIZE / 4)
#define WS_BENCH_CAPACITY (QUARTER < 4096 ? QUARTER : 4096)

#define ALIGNED __attribute__((aligned(4)))

uint8_t ws_bench_key[240] ALIGNED;
uint16_t ws_bench_key_len;
uint8_t ws_bench_nonce[16] ALIGNED;
uint8_t ws_bench_aad[64] ALIGNED;
uint16_t ws_bench_aad_len;
uint8_t ws_bench_message[WS_BENCH_CAPACITY] ALIGNED;
uint16_t ws_bench_message_len;
uint8_t ws_bench_output[WS_BENCH_CAPACITY] ALIGNED;
uint8_t ws_bench_tag[32] ALIGNED;
int16_t ws_bench_result;

/* The assembly that does nothing tells the compiler that any variable may be different afterwards. */
#define BARRIER() __asm__ volatile("" ::: "memory")

void ws_bench_ready(void);
void ws_bench_run(void);

__attribute__((noinline)) void ws_bench_ready(void)
{
    BARRIER();
}

__attribute__((noinline)) void ws_bench_run(void)
{
    uint8_t *const key = ws_bench_key;
    const size_t key_len = ws_bench_key_len;
    uint8_t *const nonce = ws_bench_nonce;
    uint8_t *const aad = ws_bench_aad;
    const size_t aad_len = ws_bench_aad_len;
    uint8_t *const message = ws_bench_message;
    const size_t len = ws_bench_message_len;
    uint8_t *const output = ws_bench_output;
    uint8_t *const tag = ws_bench_tag;
    int result = 0;

    (void)key, (void)key_len, (void)nonce, (void)aad, (void)aad_len, (void)message, (void)len, (void)output, (void)tag;
    WS_BENCH_CALL;
    ws_bench_result = (int16_t)result;
    /* What follows the call keeps it from becoming a jump. */
    BARRIER();
}

int main(void)
{
    for (;;) {
        ws_bench_ready();
        ws_bench_run();
    }
}
