/* Clock of the SAM D21, data sheet DS40001882F: sections 15 (GCLK), 17 (SYSCTRL), 22 (NVMCTRL).
 *
 * Up to 8 MHz from OSC8M, above from the DFLL48M in open loop, with the value that the factory has found for it.
 * Registers touched: NVMCTRL_CTRLB 0x41004004, SYSCTRL_OSC8M 0x40000820, SYSCTRL_DFLLCTRL 0x40000824, SYSCTRL_DFLLVAL
 * 0x40000828, GCLK_GENDIV 0x40000c08, GCLK_GENCTRL 0x40000c04; read: SYSCTRL_PCLKSR 0x4000080c, GCLK_STATUS
 * 0x40000c01, the calibration row 0x00806024. */
#include "clock.h"

#define OSC8M_HZ 8000000
#define DFLL_HZ 48000000

#define NVMCTRL_CTRLB REGISTER(0x41004004)
#define NVMCTRL_CTRLB_RWS(cycles) ((cycles) << 1)
/* Pages are written when the program says so alone: errata, reference 13134. */
#define NVMCTRL_CTRLB_MANW (1u << 7)

#define SYSCTRL_PCLKSR REGISTER(0x4000080c)
#define SYSCTRL_PCLKSR_DFLLRDY (1u << 4)
#define SYSCTRL_OSC8M REGISTER(0x40000820)
#define SYSCTRL_OSC8M_PRESC (3u << 8)
#define SYSCTRL_DFLLCTRL (*(volatile uint16_t *)0x40000824)
#define SYSCTRL_DFLLCTRL_ENABLE (1u << 1)
#define SYSCTRL_DFLLVAL REGISTER(0x40000828)
#define SYSCTRL_DFLLVAL_FINE 512u

/* DFLL48M COARSE CAL, bits 31:26 (section 10.3.2); where the row is erased, the middle of its range. */
#define CALIBRATION REGISTER(0x00806024)
#define COARSE_ERASED 0x3fu
#define COARSE_MIDDLE 0x1fu

#define GCLK_STATUS (*(volatile uint8_t *)0x40000c01)
#define GCLK_STATUS_SYNCBUSY 0x80u
#define GCLK_GENCTRL REGISTER(0x40000c04)
#define GCLK_GENCTRL_GENEN (1u << 16)
#define GCLK_GENCTRL_DFLL48M (7u << 8)
#define GCLK_GENDIV REGISTER(0x40000c08)
#define GCLK_GENDIV_DIV(by) ((uint32_t)(by) << 8)

/* Section 37.12, from 2.7 V up. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES (WS_CLOCK_HZ > 24000000 ? 1u : 0u)
#endif

#if WS_CLOCK_HZ == OSC8M_HZ
#define PRESCALER 0u
#elif WS_CLOCK_HZ == OSC8M_HZ / 2
#define PRESCALER 1u
#elif WS_CLOCK_HZ == OSC8M_HZ / 4
#define PRESCALER 2u
#elif WS_CLOCK_HZ == OSC8M_HZ / 8
#define PRESCALER 3u
#elif WS_CLOCK_HZ < OSC8M_HZ || DFLL_HZ % WS_CLOCK_HZ != 0
#error "CLOCK: this part makes 1, 2, 4, 8 MHz and 12, 16, 24, 48 MHz from its internal oscillators"
#endif

void ws_clock_init(void)
{
    NVMCTRL_CTRLB = NVMCTRL_CTRLB_MANW | NVMCTRL_CTRLB_RWS(WS_FLASH_WAIT_STATES);
#ifdef PRESCALER
    SYSCTRL_OSC8M = (SYSCTRL_OSC8M & ~SYSCTRL_OSC8M_PRESC) | PRESCALER << 8;
#else
    uint32_t coarse = CALIBRATION >> 26;

    if (coarse == COARSE_ERASED) {
        coarse = COARSE_MIDDLE;
    }
    /* Not on demand, before its other registers are written: errata, reference 9905. */
    SYSCTRL_DFLLCTRL = SYSCTRL_DFLLCTRL_ENABLE;
    while (!(SYSCTRL_PCLKSR & SYSCTRL_PCLKSR_DFLLRDY)) {
    }
    SYSCTRL_DFLLVAL = coarse << 10 | SYSCTRL_DFLLVAL_FINE;
    while (!(SYSCTRL_PCLKSR & SYSCTRL_PCLKSR_DFLLRDY)) {
    }
    GCLK_GENDIV = GCLK_GENDIV_DIV(DFLL_HZ / WS_CLOCK_HZ);
    while (GCLK_STATUS & GCLK_STATUS_SYNCBUSY) {
    }
    GCLK_GENCTRL = GCLK_GENCTRL_GENEN | GCLK_GENCTRL_DFLL48M;
    while (GCLK_STATUS & GCLK_STATUS_SYNCBUSY) {
    }
#endif
}
