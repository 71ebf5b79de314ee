/* Clock of the nRF52840, nRF52840 Product Specification, CLOCK and NVMC: the core has 64 MHz alone, from HFINT after reset, from
 * the crystal (HFXO) on as soon as that is started; its wait states cannot be set.
 *
 * Registers touched: NVMC.ICACHECNF 0x4001e540, CLOCK.TASKS_HFCLKSTART 0x40000000; read: CLOCK.EVENTS_HFCLKSTARTED 0x40000100. */
#include "clock.h"

#if WS_CLOCK_HZ != 64000000
#error "CLOCK: this part makes 64 MHz alone"
#endif
#if defined(WS_FLASH_WAIT_STATES) && WS_FLASH_WAIT_STATES != 2
#error "WAIT_STATES: the flash of the nRF52840 has two"
#endif

#define NVMC_ICACHECNF REGISTER(0x4001e540)
#define NVMC_ICACHECNF_CACHEEN 1u
#define CLOCK_TASKS_HFCLKSTART REGISTER(0x40000000)
#define CLOCK_EVENTS_HFCLKSTARTED REGISTER(0x40000100)

void ws_clock_init(void)
{
    NVMC_ICACHECNF = NVMC_ICACHECNF_CACHEEN;
    CLOCK_TASKS_HFCLKSTART = 1;
    while (!CLOCK_EVENTS_HFCLKSTARTED) {
    }
}
