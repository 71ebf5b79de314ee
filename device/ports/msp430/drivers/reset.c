/* SLAU208, "System Resets, Interrupts, and Operating Modes", "Power Management Module", "Watchdog Timer (WDT_A)". */
#include "../../../drivers/reset.h"

#include "../../shared/stack.h"

#include "registers.h"

/* The causes that are pending, the most important first; reading takes one away. */
#define SYSRSTIV REGISTER(0x019e)
#define SYSRSTIV_BOR 0x02u
#define SYSRSTIV_RSTNMI 0x04u
#define SYSRSTIV_DOBOR 0x06u
#define SYSRSTIV_SVSL 0x0cu
#define SYSRSTIV_SVSH 0x0eu
#define SYSRSTIV_WDTTO 0x16u

#define WDTCTL REGISTER(0x015c)
/* The password, ACLK, cleared, 2^19 clocks: 16 s. There is nothing between that and 1 s. */
#define WDTCTL_FEED 0x5a2bu

#define PMMCTL0 REGISTER(0x0120)
/* The password, PMMSWBOR: all is as after power-up. */
#define PMMCTL0_RESET 0xa504u

uint8_t ws_reset_cause(void)
{
    uint16_t first = SYSRSTIV;

    ws_stack_paint();
    /* A write takes all others away. */
    SYSRSTIV = 0;
    switch (first) {
    case SYSRSTIV_BOR:
        return WS_RESET_POWER_ON;
    case SYSRSTIV_RSTNMI:
        return WS_RESET_EXTERNAL;
    case SYSRSTIV_SVSL:
    case SYSRSTIV_SVSH:
        return WS_RESET_BROWN_OUT;
    case SYSRSTIV_DOBOR:
        return WS_RESET_COMMANDED;
    case SYSRSTIV_WDTTO:
        return WS_RESET_WATCHDOG;
    default:
        return WS_RESET_UNKNOWN;
    }
}

void ws_watchdog_start(void)
{
    WDTCTL = WDTCTL_FEED;
}

void ws_watchdog_feed(void)
{
    WDTCTL = WDTCTL_FEED;
}

void ws_reset_now(void)
{
    PMMCTL0 = PMMCTL0_RESET;
    for (;;) {
    }
}
