/* A line by RTT that takes longer than a look at its buffer, with one by semihosting in its midst; ends with 0. */
#include <stdint.h>

void start(void);

__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000, (void *)start};

struct {
    char id[16];
    int32_t up, down;
    const char *name;
    char *buffer;
    uint32_t size;
    volatile uint32_t write, read;
    uint32_t flags;
} _SEGGER_RTT __attribute__((section(".buffers")));

static char storage[64] __attribute__((section(".buffers")));

static void call(uint32_t operation, const void *parameter)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = parameter;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void rtt(const char *text)
{
    while (*text) {
        storage[_SEGGER_RTT.write] = *text++;
        _SEGGER_RTT.write = _SEGGER_RTT.write + 1;
    }
}

static void wait(void)
{
    for (volatile int count = 0; count < 20000; count++) {
    }
}

void start(void)
{
    static const uint32_t ended[2] = {0x20026, 0};

    _SEGGER_RTT.up = 1;
    _SEGGER_RTT.buffer = storage;
    _SEGGER_RTT.size = sizeof storage;
    for (int at = 0; at < 16; at++) {
        /* A literal would be found by a probe before it is set up. */
        _SEGGER_RTT.id[at] = at < 10 ? "TTR REGGES"[9 - at] : 0;
    }
    rtt("begun, ");
    wait();
    call(4, "by semihosting\n");
    rtt("ended\n");
    wait();
    call(0x20, ended);
    for (;;) {
    }
}
