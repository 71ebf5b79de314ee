/* Clock of the MSP430FR5xx, user's guide SLAU367: FRAM wait states and the DCO.
 *
 * Registers touched: FRCTL0 0x0140, CSCTL0 0x0160 (its high byte alone, too), CSCTL1 0x0162, CSCTL2 0x0164, CSCTL3 0x0166. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define REGISTER_BYTE(address) (*(volatile uint8_t *)(address))

#define FRCTL0 REGISTER(0x0140)
#define FRCTLPW 0xa500u
#define NWAITS(cycles) ((cycles) << 4)

#define CSCTL0 REGISTER(0x0160)
#define CSCTL0_H REGISTER_BYTE(0x0161)
#define CSKEY 0xa500u
#define CSCTL1 REGISTER(0x0162)
#define DCORSEL 0x0040u
#define DCOFSEL(frequency) ((frequency) << 1)
/* ACLK from LFXT, or where there is no crystal from LFMODCLK; SMCLK and MCLK from the DCO. */
#define CSCTL2 REGISTER(0x0164)
#define CSCTL2_SOURCES 0x0033u
#define CSCTL3 REGISTER(0x0166)
#define DIVS_DIVM(log2) ((log2) << 4 | (log2))

/* SLASE54, "DCO": 1, 4, 8 and 16 MHz as they are. */
#if WS_CLOCK_HZ == 1000000
#define DCO DCOFSEL(0)
#elif WS_CLOCK_HZ == 4000000
#define DCO DCOFSEL(3)
#elif WS_CLOCK_HZ == 8000000
#define DCO DCOFSEL(6)
#elif WS_CLOCK_HZ == 16000000
#define DCO (DCORSEL | DCOFSEL(4))
#else
#error "CLOCK: this part makes 1, 4, 8 and 16 MHz from its internal oscillator"
#endif

/* SLASE54, recommended operating conditions. */
#ifndef WS_FLASH_WAIT_STATES
#define WS_FLASH_WAIT_STATES (WS_CLOCK_HZ > 8000000 ? 1u : 0u)
#endif

void ws_clock_init(void);

/* Sets the FRAM's wait states, then brings the core to WS_CLOCK_HZ: the dividers, an eighth after reset, follow the DCO, so that it never
 * runs the core too fast. Called once, out of reset. */
void ws_clock_init(void)
{
    FRCTL0 = FRCTLPW | NWAITS(WS_FLASH_WAIT_STATES);
    CSCTL0 = CSKEY;
    CSCTL2 = CSCTL2_SOURCES;
    CSCTL1 = DCO;
    CSCTL3 = DIVS_DIVM(0u);
    CSCTL0_H = 0;
}
