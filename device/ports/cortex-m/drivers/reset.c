/* RM0090, "Reset and clock control" (RCC_CSR) and "Independent watchdog"; ARM DDI 0403E, B3.2.6, AIRCR. */
#include "../../../drivers/reset.h"

#include "../../shared/stack.h"

#include "registers.h"

#define CSR_CLEAR (1u << 24)
#define CSR_BROWN_OUT (1u << 25)
#define CSR_PIN (1u << 26)
#define CSR_POWER_ON (1u << 27)
#define CSR_SOFTWARE (1u << 28)
/* Independent and window watchdog. */
#define CSR_WATCHDOGS (3u << 29)

#define IWDG_KR REGISTER(0x40003000u)
#define IWDG_PR REGISTER(0x40003004u)
#define IWDG_RLR REGISTER(0x40003008u)
#define IWDG_SR REGISTER(0x4000300cu)
#define KEY_UNLOCK 0x5555u
#define KEY_FEED 0xaaaau
#define KEY_START 0xccccu
/* The internal oscillator, 32 kHz typically, by 64, 4000 times: 8 s; between 5 and 15 s with the oscillator's limits of 17 and
 * 47 kHz (DS8626; from memory, not yet compared). */
#define PR_BY_64 4u
#define RELOAD 4000u

#define AIRCR REGISTER(0xe000ed0cu)
#define AIRCR_RESET 0x05fa0004u

uint8_t ws_reset_cause(void)
{
    const uint32_t causes = RCC_CSR;

    ws_stack_paint();
    RCC_CSR = causes | CSR_CLEAR;
    /* At power-up those of pin and brown-out are up, too; with any other that of the pin, which the part pulls itself. */
    if (causes & CSR_POWER_ON) {
        return WS_RESET_POWER_ON;
    }
    if (causes & CSR_WATCHDOGS) {
        return WS_RESET_WATCHDOG;
    }
    if (causes & CSR_SOFTWARE) {
        return WS_RESET_COMMANDED;
    }
    if (causes & CSR_BROWN_OUT) {
        return WS_RESET_BROWN_OUT;
    }
    return causes & CSR_PIN ? WS_RESET_EXTERNAL : WS_RESET_UNKNOWN;
}

void ws_watchdog_start(void)
{
    IWDG_KR = KEY_START;
    IWDG_KR = KEY_UNLOCK;
    IWDG_PR = PR_BY_64;
    IWDG_RLR = RELOAD;
    /* The oscillator takes the new values over. */
    while (IWDG_SR != 0) {
    }
    IWDG_KR = KEY_FEED;
}

void ws_watchdog_feed(void)
{
    IWDG_KR = KEY_FEED;
}

void ws_reset_now(void)
{
    __asm__ volatile("dsb" ::: "memory");
    AIRCR = AIRCR_RESET;
    for (;;) {
    }
}
