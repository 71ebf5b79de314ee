/* UART, time, watchdog and the way into an image, of the STM32F407. USART1 at PA9 (out) and PA10 (in), 115,200 baud, 8 bits, no parity, one stop
 * bit. RM0090, "Universal synchronous asynchronous receiver transmitter", "Independent watchdog"; alternate functions as in data sheet DS8626. */
#include "../../../../boot/image.h"
#include "../../../../boot/port.h"

#include "registers.h"

#if WS_CLOCK_HZ != WS_BOOT_CLOCK_HZ
#error "CLOCK=16000000: the bootloader hands the clock over as it is after a reset"
#endif

#define BAUD 115200u
#define SR_RXNE (1u << 5)
#define SR_TC (1u << 6)
#define SR_TXE (1u << 7)
#define CR1_RE (1u << 2)
#define CR1_TE (1u << 3)
#define CR1_UE (1u << 13)
#define ENABLE_GPIOA (1u << 0)
#define ENABLE_USART1 (1u << 4)
/* MODER: two bits a pin, 2 is an alternate function; PUPDR: 1 is a pull-up. */
#define PIN_MODE(pin, mode) ((uint32_t)(mode) << 2u * (pin))
#define AF7 7u

#define SYST_ENABLE 1u
#define SYST_CORE_CLOCK 4u
#define SYST_COUNTFLAG (1u << 16)

#define IWDG_UNLOCK 0x5555u
#define IWDG_START 0xccccu
#define IWDG_BY_256 6u
#define IWDG_LONGEST 0xfffu

void ws_boot_port_start(void)
{
    RCC_AHB1ENR |= ENABLE_GPIOA;
    RCC_APB2ENR |= ENABLE_USART1;
    GPIOA_AFRH |= AF7 << 4 | AF7 << 8;
    GPIOA_PUPDR |= PIN_MODE(10, 1);
    GPIOA_MODER |= PIN_MODE(9, 2) | PIN_MODE(10, 2);
    USART1_BRR = (WS_CLOCK_HZ + BAUD / 2) / BAUD;
    USART1_CR1 = CR1_UE | CR1_TE | CR1_RE;
    SYST_RVR = WS_CLOCK_HZ / 1000 - 1;
    SYST_CVR = 0;
    SYST_CSR = SYST_CORE_CLOCK | SYST_ENABLE;
}

int16_t ws_uart_receive(void)
{
    /* Reading SR and then DR clears an overrun, too. */
    return USART1_SR & SR_RXNE ? (int16_t)(USART1_DR & 0xffu) : -1;
}

void ws_uart_send(uint8_t byte)
{
    while (!(USART1_SR & SR_TXE)) {
    }
    USART1_DR = byte;
}

void ws_uart_flush(void)
{
    while (!(USART1_SR & SR_TC)) {
    }
}

uint8_t ws_boot_ticked(void)
{
    return (SYST_CSR & SYST_COUNTFLAG) != 0;
}

void ws_boot_watchdog(void)
{
    IWDG_KR = IWDG_START;
    IWDG_KR = IWDG_UNLOCK;
    IWDG_PR = IWDG_BY_256;
    IWDG_RLR = IWDG_LONGEST;
    /* The oscillator takes the new values over. */
    while (IWDG_SR != 0) {
    }
    IWDG_KR = IWDG_FEED;
}

void ws_boot_run(uint8_t slot, uint32_t floor)
{
    uint32_t program;

    ws_uart_flush();
    SYST_CSR = 0;
    RCC_APB2RSTR = ENABLE_USART1;
    RCC_APB2RSTR = 0;
    RCC_AHB1RSTR = ENABLE_GPIOA;
    RCC_AHB1RSTR = 0;
    RCC_APB2ENR &= ~ENABLE_USART1;
    RCC_AHB1ENR &= ~ENABLE_GPIOA;
    while (ws_image_difference(slot, floor) != 0) {
    }
    program = WS_BOOT_SLOT(slot) + WS_BOOT_HEADER + ws_image_difference(slot, floor);
    SCB_VTOR = program;
    /* The program's first two words: its stack, and where it begins. */
    __asm__ volatile("dsb\n\tisb\n\tldr r1, [%0, #4]\n\tldr r0, [%0]\n\tmsr msp, r0\n\tbx r1" : : "r"(program) : "r0", "r1", "memory");
    __builtin_unreachable();
}
