#include "spi.h"

#if WS_CLOCK_HZ > 20000000
#error "an eighth of the core clock is more than the 2.5 MHz of ws_spi_slow"
#endif

void ws_spi_start(void)
{
    /* Twice the rate that SPCR has: clk/2 for clk/4, clk/8 for clk/16 (table 19-5). */
    SPSR = _BV(SPI2X);
    ws_spi_fast();
}
