/* The clock: SysTick, from the core's clock, WS_SAMPLER_HZ times a second (ARM DDI 0403E, B3.3), which the sampler needs anyhow. It is as
 * exact as the internal oscillator, 1 % at 25 C (DS8626; from memory, not yet compared). A sleep's deadline is looked at at each of
 * these interrupts, and so up to 0.8 ms late.
 *
 * Sleep is WFI: the core's clock stands still, all others run (RM0090, "Sleep mode"). */
#include "../../../drivers/clock.h"
#include "../../../drivers/sampler.h"

#include "registers.h"

#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
/* The core's clock, with interrupts, on. */
#define CSR_START 7u

#define PERIOD (WS_CLOCK_HZ / WS_SAMPLER_HZ)
#define PERIOD_TICKS (WS_CLOCK_TICKS / WS_SAMPLER_HZ)

/* Whole seconds, and periods of the one under way. */
static volatile uint32_t seconds;
static volatile uint32_t periods;

void SysTick_Handler(void);

void SysTick_Handler(void)
{
    ws_sampler_trigger();
    if (periods == WS_SAMPLER_HZ - 1) {
        periods = 0;
        seconds++;
    } else {
        periods++;
    }
}

void ws_clock_start(void)
{
    SYST_RVR = PERIOD - 1;
    SYST_CVR = 0;
    SYST_CSR = CSR_START;
    __asm__ volatile("cpsie i" ::: "memory");
}

uint32_t ws_clock_ticks(void)
{
    uint32_t whole;
    uint32_t part;
    uint32_t left;

    /* An interrupt in between would tear them apart. */
    do {
        whole = seconds;
        part = periods;
        left = SYST_CVR;
    } while (part != periods || whole != seconds);
    return whole * WS_CLOCK_TICKS + part * PERIOD_TICKS + (PERIOD - 1 - left) * PERIOD_TICKS / PERIOD;
}

uint32_t ws_clock_seconds(void)
{
    return seconds;
}

uint8_t ws_clock_sleep(uint32_t deadline, const volatile uint8_t *event)
{
    for (;;) {
        /* WFI ends with an interrupt that is pending, allowed or not: none is missed between the look and the sleep. */
        __asm__ volatile("cpsid i" ::: "memory");
        if ((event != 0 && *event != 0) || (int32_t)(deadline - ws_clock_ticks()) <= 0) {
            break;
        }
        __asm__ volatile("wfi\n\tcpsie i\n\tisb" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
    return event != 0 ? *event : 0;
}

void ws_clock_stop(void)
{
    SYST_CSR = 0;
    for (;;) {
        __asm__ volatile("wfi" ::: "memory");
    }
}
