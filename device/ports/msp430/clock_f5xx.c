/* Core voltage and clock of the MSP430F5xx, user's guide SLAU208.
 *
 * Registers touched: PMMCTL0 0x0120 (its high byte, too, as a byte), SVSMHCTL 0x0124, SVSMLCTL 0x0126, PMMIFG 0x012c,
 * UCSCTL0 0x0160, UCSCTL1 0x0162, UCSCTL2 0x0164, UCSCTL3 0x0166, UCSCTL4 0x0168, UCSCTL7 0x016e, SFRIFG1 0x0102. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define REGISTER_BYTE(address) (*(volatile uint8_t *)(address))

/* SLAU208, "Power Management Module and Supply Voltage Supervisor". */
#define PMMCTL0 REGISTER(0x0120)
#define PMMCTL0_H REGISTER_BYTE(0x0121)
#define PMMPW 0xa500u
#define SVSMHCTL REGISTER(0x0124)
#define SVSMLCTL REGISTER(0x0126)
/* The same bits in both: monitor on, supervisor on, and their levels. */
#define SVM_ON 0x4000u
#define SVS_ON 0x0400u
#define SVS_LEVEL(level) ((level) << 8)
#define SVM_LEVEL(level) (level)
#define PMMIFG REGISTER(0x012c)
#define SVSMLDLYIFG 0x0001u
#define SVMLIFG 0x0002u
#define SVMLVLRIFG 0x0004u

/* SLAU208, "Unified Clock System". */
#define UCSCTL0 REGISTER(0x0160)
#define UCSCTL1 REGISTER(0x0162)
#define UCSCTL2 REGISTER(0x0164)
#define UCSCTL3 REGISTER(0x0166)
#define UCSCTL4 REGISTER(0x0168)
#define UCSCTL7 REGISTER(0x016e)
#define UCSCTL1_DCORSEL(range) ((range) << 4)
#define UCSCTL2_FLLD_2 0x1000u
#define UCSCTL3_SELREF_REFO 0x0020u
/* ACLK from REFO, SMCLK and MCLK from DCOCLKDIV. */
#define UCSCTL4_SOURCES 0x0244u
#define UCSCTL7_DCOFFG 0x0001u
#define SFRIFG1 REGISTER(0x0102)
#define OFIFG 0x0002u

#define REFO_HZ 32768

/* SLAS655, recommended operating conditions: the highest system clock at core voltage level 0, 1, 2, 3. */
#if WS_CLOCK_HZ <= 8000000
#define CORE_LEVEL 0u
#elif WS_CLOCK_HZ <= 12000000
#define CORE_LEVEL 1u
#elif WS_CLOCK_HZ <= 20000000
#define CORE_LEVEL 2u
#elif WS_CLOCK_HZ <= 25000000
#define CORE_LEVEL 3u
#else
#error "CLOCK: the MSP430F5438A runs at up to 25 MHz"
#endif

/* The oscillator runs at twice the clock (FLLD = 2). SLAS655, "DCO Frequency": a range serves from the highest frequency
 * of its lowest tap to the lowest frequency of its highest tap, 1.47, 3.17, 6.07, 12.3, 23.7, 39 and 60 MHz. */
#define DCO_HZ (2 * WS_CLOCK_HZ)
#if DCO_HZ < 750000
#error "CLOCK: start-up makes 375 kHz and more"
#elif DCO_HZ <= 1470000
#define DCO_RANGE 1u
#elif DCO_HZ <= 3170000
#define DCO_RANGE 2u
#elif DCO_HZ <= 6070000
#define DCO_RANGE 3u
#elif DCO_HZ <= 12300000
#define DCO_RANGE 4u
#elif DCO_HZ <= 23700000
#define DCO_RANGE 5u
#elif DCO_HZ <= 39000000
#define DCO_RANGE 6u
#else
#define DCO_RANGE 7u
#endif

void ws_clock_init(void);

/* Raises the core voltage by one level, SLAU208 "Increasing VCORE to Support Higher MCLK Frequencies". The registers are
 * unlocked. */
static void raise_core_voltage(uint16_t level)
{
    SVSMHCTL = SVM_ON | SVS_ON | SVS_LEVEL(level) | SVM_LEVEL(level);
    SVSMLCTL = SVM_ON | SVS_ON | SVM_LEVEL(level);
    while (!(PMMIFG & SVSMLDLYIFG)) {
    }
    PMMIFG &= (uint16_t)~(SVMLVLRIFG | SVMLIFG);
    PMMCTL0 = PMMPW | level;
    if (PMMIFG & SVMLIFG) {
        while (!(PMMIFG & SVMLVLRIFG)) {
        }
    }
    SVSMLCTL = SVM_ON | SVS_ON | SVS_LEVEL(level) | SVM_LEVEL(level);
}

/* Brings core voltage and clock to what WS_CLOCK_HZ needs; the clock is the multiple of REFO below it, and reaches it
 * within 32 times 32 periods of REFO (SLAU208, "Frequency Locked Loop"). Called once, out of reset. */
void ws_clock_init(void)
{
    uint16_t level;

    PMMCTL0 = PMMPW;
    for (level = 1; level <= CORE_LEVEL; level++) {
        raise_core_voltage(level);
    }
    PMMCTL0_H = 0;

    /* SCG0: the loop rests while it is set. */
    __asm__ volatile("bis #0x40, r2");
    UCSCTL3 = UCSCTL3_SELREF_REFO;
    UCSCTL4 = UCSCTL4_SOURCES;
    UCSCTL0 = 0;
    UCSCTL1 = UCSCTL1_DCORSEL(DCO_RANGE);
    UCSCTL2 = UCSCTL2_FLLD_2 | (WS_CLOCK_HZ / REFO_HZ - 1);
    __asm__ volatile("bic #0x40, r2");
    do {
        UCSCTL7 &= (uint16_t)~UCSCTL7_DCOFFG;
        SFRIFG1 &= (uint16_t)~OFIFG;
    } while (UCSCTL7 & UCSCTL7_DCOFFG);
}
