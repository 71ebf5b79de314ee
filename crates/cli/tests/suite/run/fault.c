/* Divides by zero, with DIV_0_TRP; the handler of HardFault says what CFSR and HFSR hold, and ends with 5. Semihosting: SYS_WRITE0 and
 * SYS_EXIT_EXTENDED. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

static void call(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void hard_fault(void)
{
    const uint32_t ending[2] = {0x20026, 5};

    if (REGISTER(0xe000ed28) == 1u << 25 && REGISTER(0xe000ed2c) == 1u << 30) {
        call(4, "division by zero\n");
    }
    call(0x20, ending);
    for (;;) {
    }
}

void start(void)
{
    volatile uint32_t zero = 0;

    REGISTER(0xe000ed14) |= 1u << 4;
    zero = 1 / zero;
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {(void *)0x20010000, (void *)start, [3] = (void *)hard_fault};
