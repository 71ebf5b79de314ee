/* Speaks by semihosting, by the trace port (ITM) and, a hundred times, by RTT; ends with 42 by semihosting. */
#include <stdint.h>

void start(void);

__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000, (void *)start};

typedef struct {
    const char *name;
    char *buffer;
    uint32_t size;
    volatile uint32_t write;
    volatile uint32_t read;
    uint32_t flags;
} ring;

struct {
    char id[16];
    int32_t up;
    int32_t down;
    ring rings[1];
} _SEGGER_RTT __attribute__((section(".buffers")));

static char storage[64] __attribute__((section(".buffers")));

static uint32_t call(uint32_t operation, const void *parameter)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = parameter;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void rtt(char c)
{
    ring *up = &_SEGGER_RTT.rings[0];
    uint32_t next = (up->write + 1) % sizeof storage;

    while (next == up->read) {
    }
    storage[up->write] = c;
    up->write = next;
}

void start(void)
{
    static const uint32_t ended[2] = {0x20026, 42};

    call(4, "by semihosting\n");

    /* DEMCR.TRCENA, ITM_LAR, ITM_TCR.ITMENA, ITM_TER: Armv7-M, C1.6 and C1.7. */
    *(volatile uint32_t *)0xe000edfc |= 1u << 24;
    *(volatile uint32_t *)0xe0000fb0 = 0xc5acce55;
    *(volatile uint32_t *)0xe0000e80 = 1;
    *(volatile uint32_t *)0xe0000e00 = 1;
    for (const char *text = "by ITM\n"; *text; text++) {
        while (*(volatile uint32_t *)0xe0000000 == 0) {
        }
        *(volatile uint8_t *)0xe0000000 = (uint8_t)*text;
    }

    _SEGGER_RTT.up = 1;
    _SEGGER_RTT.rings[0] = (ring){0, storage, sizeof storage, 0, 0, 2};
    for (int at = 0; at < 16; at++) {
        /* A literal would be found by a probe before it is set up. */
        _SEGGER_RTT.id[at] = at < 10 ? "TTR REGGES"[9 - at] : 0;
    }
    for (int line = 0; line < 100; line++) {
        for (const char *text = "by RTT "; *text; text++) {
            rtt(*text);
        }
        if (line > 9) {
            rtt((char)('0' + line / 10));
        }
        rtt((char)('0' + line % 10));
        rtt('\n');
    }
    call(0x20, ended);
    for (;;) {
    }
}
