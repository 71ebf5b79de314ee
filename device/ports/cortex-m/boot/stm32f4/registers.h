/* Registers of the STM32F407 that the bootloader needs, by the chapters of RM0090, and of the core (ARM DDI 0403E, B3). */
#ifndef WS_BOOT_REGISTERS_H
#define WS_BOOT_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* "Embedded flash memory interface". */
#define FLASH_ACR REGISTER(0x40023c00u)
#define FLASH_KEYR REGISTER(0x40023c04u)
#define FLASH_SR REGISTER(0x40023c0cu)
#define FLASH_CR REGISTER(0x40023c10u)

/* "Reset and clock control". */
#define RCC_AHB1RSTR REGISTER(0x40023810u)
#define RCC_APB2RSTR REGISTER(0x40023824u)
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB2ENR REGISTER(0x40023844u)

/* "General-purpose I/Os", port A. */
#define GPIOA_MODER REGISTER(0x40020000u)
#define GPIOA_PUPDR REGISTER(0x4002000cu)
#define GPIOA_AFRH REGISTER(0x40020024u)

/* "Universal synchronous asynchronous receiver transmitter", USART1. */
#define USART1_SR REGISTER(0x40011000u)
#define USART1_DR REGISTER(0x40011004u)
#define USART1_BRR REGISTER(0x40011008u)
#define USART1_CR1 REGISTER(0x4001100cu)

/* "Independent watchdog". */
#define IWDG_KR REGISTER(0x40003000u)
#define IWDG_FEED 0xaaaau
#define IWDG_PR REGISTER(0x40003004u)
#define IWDG_RLR REGISTER(0x40003008u)
#define IWDG_SR REGISTER(0x4000300cu)

/* B3.3, SysTick; B3.2.5, the vector table's address. */
#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
#define SCB_VTOR REGISTER(0xe000ed08u)

#endif
