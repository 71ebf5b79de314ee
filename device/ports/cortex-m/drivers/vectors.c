/* The interrupts' part of the vector table, behind the 16 of startup.c: RM0090, "Vector table for STM32F405xx/07xx". */
#include "registers.h"

void ws_unexpected_exception(void);
void ws_interrupt_exti1(void);
void ws_interrupt_adc(void);

#define NONE ws_unexpected_exception
#define FOUR NONE, NONE, NONE, NONE

/* 0 to 6, EXTI1, 8 to 17, ADC. */
__attribute__((section(".vectors.interrupts"), used)) static void (*const interrupts[IRQ_ADC + 1])(void) = {
    FOUR, NONE, NONE, NONE, ws_interrupt_exti1, FOUR, FOUR, NONE, NONE, ws_interrupt_adc,
};
