/* GDO0 of the CC2500 at a pin of P1. SLAU208, "Digital I/O Module". The interrupt is in interrupts.S. */
#include "../../shared/cc2500.h"

#include "registers.h"

void ws_cc2500_watch(void)
{
    ws_radio_event = 0;
    P1IES |= RADIO_GDO0;
    P1IFG &= (uint8_t)~RADIO_GDO0;
    P1IE |= RADIO_GDO0;
}

void ws_cc2500_unwatch(void)
{
    P1IE &= (uint8_t)~RADIO_GDO0;
}

uint8_t ws_cc2500_busy(void)
{
    return P1IN & RADIO_GDO0;
}
