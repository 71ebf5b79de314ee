/* Clock of the RP2040 on a board with a crystal of 12 MHz, RP2040 Datasheet: sections 2.14 (RESETS), 2.15 (CLOCKS), 2.16 (XOSC),
 * 2.18 (PLL). The second stage (boot2_rp2040.S) has set up the flash before.
 *
 * Registers touched: RESETS_RESET 0x4000c000, XOSC_CTRL 0x40024000, XOSC_STARTUP 0x4002400c, PLL_SYS_PWR 0x40028004,
 * PLL_SYS_FBDIV_INT 0x40028008, PLL_SYS_PRIM 0x4002800c, CLK_REF_CTRL 0x40008030, CLK_SYS_CTRL 0x4000803c, CLK_SYS_DIV 0x40008040;
 * read: RESETS_RESET_DONE 0x4000c008, XOSC_STATUS 0x40024004, PLL_SYS_CS 0x40028000, CLK_REF_SELECTED 0x40008038,
 * CLK_SYS_SELECTED 0x40008044. */
#include "clock.h"

#define XOSC_HZ 12000000
#define MAX_HZ 133000000

#if defined(WS_FLASH_WAIT_STATES) && WS_FLASH_WAIT_STATES != 0
#error "WAIT_STATES: the serial flash of an RP2040 is set up by its second stage"
#endif

/* Section 2.1.2: writing here clears those bits. */
#define CLEARS(address) REGISTER((address) + 0x3000)

#define RESETS_RESET 0x4000c000
#define RESETS_RESET_DONE REGISTER(0x4000c008)
#define RESETS_PLL_SYS (1u << 12)

#define XOSC_CTRL REGISTER(0x40024000)
#define XOSC_CTRL_FREQ_RANGE_1_15MHZ 0xaa0u
#define XOSC_CTRL_ENABLE (0xfabu << 12)
#define XOSC_STATUS REGISTER(0x40024004)
#define XOSC_STATUS_STABLE (1u << 31)
/* Section 2.16.3: 1 ms, in 256 cycles of the crystal. */
#define XOSC_STARTUP REGISTER(0x4002400c)
#define XOSC_STARTUP_DELAY ((XOSC_HZ / 1000 + 128) / 256)

#define PLL_SYS_CS REGISTER(0x40028000)
#define PLL_CS_LOCK (1u << 31)
#define PLL_SYS_PWR 0x40028004
#define PLL_PWR_PD_VCOPD ((1u << 0) | (1u << 5))
#define PLL_PWR_POSTDIVPD (1u << 3)
#define PLL_SYS_FBDIV_INT REGISTER(0x40028008)
#define PLL_SYS_PRIM REGISTER(0x4002800c)

#define CLK_REF_CTRL REGISTER(0x40008030)
#define CLK_REF_CTRL_SRC_XOSC 2u
#define CLK_REF_SELECTED REGISTER(0x40008038)
#define CLK_SYS_CTRL REGISTER(0x4000803c)
#define CLK_SYS_CTRL_SRC_AUX 1u
#define CLK_SYS_DIV REGISTER(0x40008040)
#define CLK_SYS_DIV_INT(by) ((uint32_t)(by) << 8)
#define CLK_SYS_SELECTED REGISTER(0x40008044)

/* Of whole MHz: the VCO, 12 MHz times FBDIV, has 756 to 1596 MHz (limits: 750 and 1600), and POSTDIV1 times POSTDIV2 is 12 from
 * 63 MHz up, else 24. Below 32 MHz CLK_SYS_DIV halves twice the clock. */
#if WS_CLOCK_HZ <= XOSC_HZ
#define CLK_SYS_DIVIDER (XOSC_HZ / WS_CLOCK_HZ)
#if XOSC_HZ % WS_CLOCK_HZ != 0 || WS_CLOCK_HZ % 1000000 != 0
#define REFUSED
#endif
#else
#define CLK_SYS_DIVIDER (WS_CLOCK_HZ < 32000000 ? 2 : 1)
#define PLL_MHZ (WS_CLOCK_HZ / 1000000 * CLK_SYS_DIVIDER)
#define POSTDIV2 (PLL_MHZ < 63 ? 4 : 2)
#define FBDIV (PLL_MHZ * POSTDIV2 / 2)
#define PRIM ((6u << 16) | ((uint32_t)POSTDIV2 << 12))
#if WS_CLOCK_HZ % 1000000 != 0 || WS_CLOCK_HZ < 16000000 || WS_CLOCK_HZ > MAX_HZ
#define REFUSED
#endif
#endif

void ws_clock_init(void)
{
#ifdef REFUSED
#error "CLOCK: this part makes 1, 2, 3, 4, 6, 12 MHz and whole MHz from 16 to 133 from its crystal of 12 MHz"
#else
    XOSC_CTRL = XOSC_CTRL_FREQ_RANGE_1_15MHZ;
    XOSC_STARTUP = XOSC_STARTUP_DELAY;
    XOSC_CTRL = XOSC_CTRL_ENABLE | XOSC_CTRL_FREQ_RANGE_1_15MHZ;
    while (!(XOSC_STATUS & XOSC_STATUS_STABLE)) {
    }
    CLK_REF_CTRL = CLK_REF_CTRL_SRC_XOSC;
    while (!(CLK_REF_SELECTED & (1u << CLK_REF_CTRL_SRC_XOSC))) {
    }
    CLK_SYS_DIV = CLK_SYS_DIV_INT(CLK_SYS_DIVIDER);
#if WS_CLOCK_HZ > XOSC_HZ
    CLEARS(RESETS_RESET) = RESETS_PLL_SYS;
    while (!(RESETS_RESET_DONE & RESETS_PLL_SYS)) {
    }
    PLL_SYS_FBDIV_INT = FBDIV;
    PLL_SYS_PRIM = PRIM;
    CLEARS(PLL_SYS_PWR) = PLL_PWR_PD_VCOPD;
    while (!(PLL_SYS_CS & PLL_CS_LOCK)) {
    }
    CLEARS(PLL_SYS_PWR) = PLL_PWR_POSTDIVPD;
    /* AUXSRC is PLL_SYS, as after reset. */
    CLK_SYS_CTRL = CLK_SYS_CTRL_SRC_AUX;
    while (!(CLK_SYS_SELECTED & (1u << CLK_SYS_CTRL_SRC_AUX))) {
    }
#endif
#endif
}
