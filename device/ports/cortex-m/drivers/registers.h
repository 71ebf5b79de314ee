/* Registers of the STM32F407 that the drivers share, by the chapters of RM0090, and of the core (ARM DDI 0403E, B3); and the
 * board's pins, as its file in boards/ has them. */
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

/* Ports are fixed by these drivers, the bits in them are the board's. */
#if !defined(WS_RADIO_CC2500) || !defined(WS_RADIO_SPI_SPI1) || !defined(WS_RADIO_SELECT_PORT_GPIOA)
#error "the board's file: the radio has to be a CC2500 on SPI1, selected by a pin of GPIOA"
#endif
#if !defined(WS_RADIO_GDO0_PORT_GPIOB) || WS_RADIO_GDO0_BIT != 1
#error "the board's file: GDO0 of the CC2500 has to be at PB1, whose external interrupt is EXTI1"
#endif
#if !defined(WS_MEMORY_FM25L16B) || !defined(WS_MEMORY_SPI_SPI1) || !defined(WS_MEMORY_SELECT_PORT_GPIOB)
#error "the board's file: the memory has to be an FM25L16B on SPI1, selected by a pin of GPIOB"
#endif
#if !defined(WS_SPI1_SCK_PORT_GPIOA) || WS_SPI1_SCK_BIT != 5 || WS_SPI1_MISO_BIT != 6 || WS_SPI1_MOSI_BIT != 7
#error "the board's file: SPI1 has to have SCK at PA5, MISO at PA6, MOSI at PA7"
#endif
#if !defined(WS_MAINS_VOLTAGE_PORT_GPIOC) || WS_MAINS_VOLTAGE_CHANNEL != WS_MAINS_VOLTAGE_BIT + 10
#error "the board's file: the mains voltage has to be at one of PC0 to PC5, which are the channels 10 to 15"
#endif
#if !defined(WS_MAINS_CURRENT_PORT_GPIOC) || WS_MAINS_CURRENT_CHANNEL != WS_MAINS_CURRENT_BIT + 10
#error "the board's file: the mains current has to be at one of PC0 to PC5, which are the channels 10 to 15"
#endif

/* Waits for turns of at least three cycles. */
static inline void ws_cortex_wait(uint32_t turns)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(turns) : : "cc");
}

/* Begins a pair of samples, once the sampler has started: called by the clock's interrupt, WS_SAMPLER_HZ times a second. */
void ws_sampler_trigger(void);

#endif
