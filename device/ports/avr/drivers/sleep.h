/* Idle sleep: the processor stands still, timers, converter, SPI and EEPROM go on (DS40002061, "Sleep Modes"). */
#ifndef WS_AVR_SLEEP_H
#define WS_AVR_SLEEP_H

#include <avr/interrupt.h>
#include <avr/io.h>

/* Sleeps until the next interrupt was handled. in: interrupts off, sleep enabled. out: interrupts on.
 *
 * None that came since they were turned off is missed: the instruction after SEI is executed before any (DS40002061, "Reset and
 * Interrupt Handling"), and that is SLEEP. */
static inline void ws_avr_sleep(void)
{
    __asm__ volatile("sei\n\tsleep" ::: "memory");
}

/* The same, in idle, with sleep enabled for that long. in: interrupts off. out: interrupts on. */
static inline void ws_avr_idle(void)
{
    SMCR = _BV(SE);
    ws_avr_sleep();
    SMCR = 0;
}

#endif
