/* Resets and the watchdog. DS40002061, "System Control and Reset". What reset.S keeps of the start is read here. */
#include "../../../drivers/reset.h"

#include "paint.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>

/* Set by reset.S: MCUSR at the start. */
extern uint8_t ws_reset_flags;
/* The first byte behind the variables. */
extern uint8_t ws_noinit_end;
extern uint8_t ws_stack_top;

/* Outlives a reset, but not the loss of power. */
#define COMMANDED 0x5ab1u
static uint16_t mark __attribute__((section(".noinit")));

uint8_t ws_reset_cause(void)
{
    uint8_t commanded = mark == COMMANDED;

    mark = 0;
    /* At power-on the others may be set, too. */
    if (ws_reset_flags & _BV(PORF)) {
        return WS_RESET_POWER_ON;
    }
    if (ws_reset_flags & _BV(BORF)) {
        return WS_RESET_BROWN_OUT;
    }
    if (ws_reset_flags & _BV(EXTRF)) {
        return WS_RESET_EXTERNAL;
    }
    if (ws_reset_flags & _BV(WDRF)) {
        return commanded ? WS_RESET_COMMANDED : WS_RESET_WATCHDOG;
    }
    return WS_RESET_UNKNOWN;
}

void ws_watchdog_start(void)
{
    wdt_enable(WDTO_8S);
}

void ws_watchdog_feed(void)
{
    wdt_reset();
}

void ws_reset_now(void)
{
    cli();
    mark = COMMANDED;
    wdt_enable(WDTO_15MS);
    for (;;) {
    }
}

uint16_t ws_stack_untouched(void)
{
    const volatile uint8_t *at = &ws_noinit_end;
    uint16_t untouched = 0;

    while (at <= &ws_stack_top && *at++ == WS_STACK_PAINT) {
        untouched++;
    }
    return untouched;
}
