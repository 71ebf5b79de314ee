/* Start-up of the Cortex-M: vectors, .data, .bss, clock, main.
 *
 * Registers touched: those of ws_clock_init, in the file of the family. */
#include <stdint.h>

#include "clock.h"

extern uint32_t ws_data_start[], ws_data_end[], ws_data_load[], ws_bss_start[], ws_bss_end[], ws_stack_top[];

int main(void);
void ws_reset(void);
void ws_unexpected_exception(void);

void ws_unexpected_exception(void)
{
    for (;;) {
    }
}

#define HANDLER(name) __attribute__((weak, alias("ws_unexpected_exception"))) void name(void)

HANDLER(NMI_Handler);
HANDLER(HardFault_Handler);
HANDLER(MemManage_Handler);
HANDLER(BusFault_Handler);
HANDLER(UsageFault_Handler);
HANDLER(SVC_Handler);
HANDLER(DebugMon_Handler);
HANDLER(PendSV_Handler);
HANDLER(SysTick_Handler);

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

/* ARMv7-M Architecture Reference Manual, table B1-4; ARMv6-M leaves 4 to 6 and 12 reserved. */
__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = ws_stack_top},
    {.handler = ws_reset},
    {.handler = NMI_Handler},
    {.handler = HardFault_Handler},
    {.handler = MemManage_Handler},
    {.handler = BusFault_Handler},
    {.handler = UsageFault_Handler},
    {0},
    {0},
    {0},
    {0},
    {.handler = SVC_Handler},
    {.handler = DebugMon_Handler},
    {0},
    {.handler = PendSV_Handler},
    {.handler = SysTick_Handler},
};

void ws_reset(void)
{
    const uint32_t *from = ws_data_load;
    uint32_t *to;

    for (to = ws_data_start; to != ws_data_end; to++) {
        *to = *from++;
    }
    for (to = ws_bss_start; to != ws_bss_end; to++) {
        *to = 0;
    }
    ws_clock_init();
    main();
    ws_unexpected_exception();
}
