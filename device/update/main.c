/* An application for the bootloader's tests: it sends what it is by the UART, reports in or does not, and sleeps. The host writes ws_update into the
 * image before it is signed. */
#include "../boot/boot.h"

#include <stdint.h>

/* Built for the clock after a reset. */
#define CLOCK_HZ 16000000u

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_APB2ENR REGISTER(0x40023844u)
#define USART1_SR REGISTER(0x40011000u)
#define USART1_DR REGISTER(0x40011004u)
#define USART1_BRR REGISTER(0x40011008u)
#define USART1_CR1 REGISTER(0x4001100cu)
#define SR_TC (1u << 6)
#define SR_TXE (1u << 7)
#define CR1_TE_UE (1u << 3 | 1u << 13)

enum { SILENT = 0, CONFIRMS = 1 };

/* What it says, and what it does. */
struct update {
    uint8_t name;
    uint8_t behaviour;
};

const struct update ws_update __attribute__((used)) = {'?', SILENT};

static void say(uint8_t byte)
{
    while (!(USART1_SR & SR_TXE)) {
    }
    USART1_DR = byte;
}

int main(void)
{
    /* Not what the compiler knows of it. */
    const volatile struct update *const update = &ws_update;

    RCC_APB2ENR |= 1u << 4;
    USART1_BRR = CLOCK_HZ / 115200u;
    USART1_CR1 = CR1_TE_UE;
    say('<');
    say(update->name);
    if (update->behaviour == CONFIRMS) {
        say(ws_boot_confirm() == 0 ? '+' : '!');
    }
    say('>');
    while (!(USART1_SR & SR_TC)) {
    }
    for (;;) {
        __asm__ volatile("wfi");
    }
}
