/* The random number generator (RNG) of the STM32F4 and F7, reference manuals RM0090 section 24 and
 * RM0410 section 20. The first word is not given out, and each one is compared with the one before,
 * as section 24.3.1 asks for by FIPS 140-2.
 *
 * The PLL makes its clock, PLL48CLK: the core runs on the PLL.
 * Registers touched: RCC_AHB2ENR 0x40023834, RNG_CR 0x50060800, RNG_SR 0x50060804,
 * RNG_DR 0x50060808. */
#include "random_module.h"

#include "clock.h"

#define RCC_AHB2ENR REGISTER(0x40023834)
#define RCC_AHB2ENR_RNGEN (1u << 6)
#define RNG_CR REGISTER(0x50060800)
#define RNG_CR_RNGEN (1u << 2)
#define RNG_SR REGISTER(0x50060804)
#define RNG_SR_DRDY (1u << 0)
#define RNG_SR_CECS (1u << 1)
#define RNG_SR_SECS (1u << 2)
#define RNG_DR REGISTER(0x50060808)

/* Waits for a word. Returns 0, or -1 for an error of the clock or of the seed. */
static int take_word(uint32_t *word)
{
    uint32_t status;

    do {
        status = RNG_SR;
        if ((status & (RNG_SR_CECS | RNG_SR_SECS)) != 0) {
            return -1;
        }
    } while ((status & RNG_SR_DRDY) == 0);
    *word = RNG_DR;
    return 0;
}

static int take_bytes(uint8_t *out, uint16_t len)
{
    uint32_t last = 0;
    uint32_t word = 0;
    uint16_t i;

    if (take_word(&last) != 0) {
        return -1;
    }
    for (i = 0; i < len; i++) {
        if (i % 4 == 0) {
            if (take_word(&word) != 0 || word == last) {
                return -1;
            }
            last = word;
        }
        out[i] = (uint8_t)word;
        word >>= 8;
    }
    return 0;
}

int ws_random_module_generate(uint8_t *out, uint16_t len)
{
    int result;

    RCC_AHB2ENR |= RCC_AHB2ENR_RNGEN;
    RNG_CR = RNG_CR_RNGEN;
    result = take_bytes(out, len);
    RNG_CR = 0;
    while (result != 0 && len != 0) {
        len--;
        out[len] = 0;
    }
    return result;
}
