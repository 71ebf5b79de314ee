/* A counter of cycles of a Cortex-M: DWT_CYCCNT (ARM DDI 0403E, C1.8), of 32 bits, or where there
 * is none SysTick (DDI 0419C, B3.3), of 24 bits, which counts down. */
#ifndef WS_VERIFY_COUNTER_H
#define WS_VERIFY_COUNTER_H

#include "../clock.h"

#include <stdint.h>

#if defined(__ARM_ARCH_6M__)

#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define SYST_ENABLE 1u
#define SYST_CORE_CLOCK 4u
#define SYST_MAX 0xffffffu

static inline void start_counter(void)
{
    SYST_RVR = SYST_MAX;
    SYST_CVR = 0;
    SYST_CSR = SYST_CORE_CLOCK | SYST_ENABLE;
}

/* Any write makes it 0, from where it goes on at SYST_MAX. */
static inline void reset_counter(void)
{
    SYST_CVR = 0;
}

static inline uint32_t count(void)
{
    return SYST_MAX - SYST_CVR;
}

#else

#define DEMCR REGISTER(0xe000edfcu)
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL REGISTER(0xe0001000u)
#define DWT_CTRL_CYCCNTENA 1u
#define DWT_CYCCNT REGISTER(0xe0001004u)

static inline void start_counter(void)
{
    DEMCR |= DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

static inline void reset_counter(void)
{
    DWT_CYCCNT = 0;
}

static inline uint32_t count(void)
{
    return DWT_CYCCNT;
}

#endif

#endif
