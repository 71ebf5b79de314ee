/* The clock that runs in sleep: TA0 from ACLK, which is REFO, 32,768 Hz, by 8. SLAU208, "Timer_A". It overflows every 16 s, when
 * the part is awake for some hundred cycles. REFO is exact to 3.5 % over temperature and supply (SLAS655, "Internal
 * Reference, Low-Frequency Oscillator (REFO)"; from memory, not yet compared), and so are intervals and uptimes.
 *
 * Sleep is LPM3: CPU, MCLK, SMCLK, loop and DCO are off, ACLK runs on (SLAU208, "Operating Modes"). */
#include "../../../drivers/clock.h"

#include "registers.h"

#define TA0CTL REGISTER(0x0340)
#define TA0CCTL1 REGISTER(0x0344)
#define TA0R REGISTER(0x0350)
#define TA0CCR1 REGISTER(0x0354)
#define TA0EX0 REGISTER(0x0360)
/* ACLK, divided by 8, continuous mode, cleared, interrupt at overflow. */
#define TACTL_TASSEL_ACLK 0x0100u
#define TACTL_ID_8 0x00c0u
#define TACTL_MC_CONTINUOUS 0x0020u
#define TACTL_TACLR 0x0004u
#define TACTL_TAIE 0x0002u
#define TACTL_TAIFG 0x0001u
#define TACCTL_CCIE 0x0010u

/* 16 seconds an overflow. */
#define OVERFLOW_SECONDS (65536u / WS_CLOCK_TICKS)

/* Counted by the interrupt (interrupts.S). */
volatile uint32_t ws_clock_overflows;

static void disable_interrupts(void)
{
    __asm__ volatile("dint\n\tnop" ::: "memory");
}

static void enable_interrupts(void)
{
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}

/* The counter runs from another clock than the CPU, and may be read in the midst of a change: two equal readings are right
 * (SLAU208, "Timer_A", TAxR). */
static uint16_t counter(void)
{
    uint16_t value = TA0R;
    uint16_t again;

    while ((again = TA0R) != value) {
        value = again;
    }
    return value;
}

/* Overflows, and the counter. Interrupts are off: an overflow since then has its flag up, but was not counted. */
static uint32_t now(uint16_t *low)
{
    uint32_t overflows = ws_clock_overflows;

    *low = counter();
    if (TA0CTL & TACTL_TAIFG) {
        *low = counter();
        overflows++;
    }
    return overflows;
}

void ws_clock_start(void)
{
    TA0EX0 = 0;
    TA0CTL = TACTL_TASSEL_ACLK | TACTL_ID_8 | TACTL_MC_CONTINUOUS | TACTL_TACLR | TACTL_TAIE;
    enable_interrupts();
}

uint32_t ws_clock_ticks(void)
{
    uint16_t low;
    uint32_t overflows;

    disable_interrupts();
    overflows = now(&low);
    enable_interrupts();
    return overflows << 16 | low;
}

uint32_t ws_clock_seconds(void)
{
    uint16_t low;
    uint32_t overflows;

    disable_interrupts();
    overflows = now(&low);
    enable_interrupts();
    return overflows * OVERFLOW_SECONDS + low / WS_CLOCK_TICKS;
}

uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event)
{
    for (;;) {
        uint32_t left;
        uint16_t low;

        /* An interrupt between the last look and the sleep would be missed: they are allowed by the instruction that
         * begins it. */
        disable_interrupts();
        left = deadline - (now(&low) << 16 | low);
        if ((event != 0 && *event != 0) || (int32_t)left <= 0) {
            break;
        }
        if (left < 0x10000u) {
            TA0CCR1 = (uint16_t)deadline;
            TA0CCTL1 = TACCTL_CCIE;
            /* The time may have come before the timer knew of it. */
            if ((int16_t)((uint16_t)deadline - counter()) <= 0 && left < 0x8000u) {
                break;
            }
        }
        __asm__ volatile("nop\n\tbis %0, r2\n\tnop" : : "i"(SR_GIE | SR_LPM3) : "memory");
    }
    TA0CCTL1 = 0;
    enable_interrupts();
    return event != 0 ? *event : 0;
}

void ws_clock_stop(void)
{
    /* It would keep ACLK, and so REFO, running. */
    TA0CTL = 0;
    for (;;) {
        __asm__ volatile("nop\n\tbis %0, r2\n\tnop" : : "i"(SR_GIE | SR_LPM4) : "memory");
    }
}
