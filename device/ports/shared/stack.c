#include "stack.h"

#include "../../drivers/reset.h"

#define PAINT 0xa5u
/* Left alone above what is painted: frames that the compiler may have below the local variable. */
#define MARGIN 64u

extern uint8_t ws_bss_end[];

void ws_stack_paint(void)
{
    volatile uint8_t here;
    const uintptr_t end = (uintptr_t)&here - MARGIN;
    volatile uint8_t *at = ws_bss_end;

    while ((uintptr_t)at < end) {
        *at++ = PAINT;
    }
}

uint16_t ws_stack_untouched(void)
{
    const volatile uint8_t *at = ws_bss_end;
    uint16_t count = 0;

    while (*at == PAINT && count != UINT16_MAX) {
        at++;
        count++;
    }
    return count;
}
