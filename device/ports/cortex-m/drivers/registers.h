/* Registers of the STM32F407 that the drivers share, by the chapters of RM0090, and of the core (ARM DDI 0403E, B3); the board's
 * pins are in board.c. */
#ifndef WS_CORTEX_M_REGISTERS_H
#define WS_CORTEX_M_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* "General-purpose I/Os": port A is 0. */
#define GPIO(port, offset) REGISTER(0x40020000u + 0x400u * (port) + (offset))
#define GPIO_MODER(port) GPIO(port, 0x00u)
#define GPIO_PUPDR(port) GPIO(port, 0x0cu)
#define GPIO_IDR(port) GPIO(port, 0x10u)
#define GPIO_BSRR(port) GPIO(port, 0x18u)
#define GPIO_AFRL(port) GPIO(port, 0x20u)
#define PORT_A 0u
#define PORT_B 1u
#define PORT_C 2u

/* "Reset and clock control": the clocks of ports, and of peripherals on APB2. */
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB2ENR REGISTER(0x40023844u)
#define RCC_CSR REGISTER(0x40023874u)

/* The clock of APB2, as clock_stm32f4.c sets it: the core's where that is the internal oscillator's, else half of it. */
#define FROM_OSCILLATOR                                                                                                     \
    (WS_CLOCK_HZ == 1000000 || WS_CLOCK_HZ == 2000000 || WS_CLOCK_HZ == 4000000 || WS_CLOCK_HZ == 8000000 ||               \
     WS_CLOCK_HZ == 16000000)
#define PCLK2_HZ (FROM_OSCILLATOR ? WS_CLOCK_HZ : WS_CLOCK_HZ / 2)

/* "Nested vectored interrupt controller": enables, a bit an interrupt. */
#define NVIC_ISER0 REGISTER(0xe000e100u)
#define IRQ_EXTI1 7u
#define IRQ_ADC 18u

/* The pins. */
#define RADIO_SELECT 4u /* of A */
#define SPI_SCK 5u
#define SPI_MISO 6u
#define SPI_MOSI 7u
#define MEMORY_SELECT 0u /* of B */
#define RADIO_GDO0 1u
#define MAINS_VOLTAGE 1u /* of C */
#define MAINS_CURRENT 2u

/* Waits for turns of at least three cycles. */
static inline void ws_cortex_wait(uint32_t turns)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(turns) : : "cc");
}

/* Begins a pair of samples, once the sampler has started: called by the clock's interrupt, WS_SAMPLER_HZ times a second. */
void ws_sampler_trigger(void);

#endif
