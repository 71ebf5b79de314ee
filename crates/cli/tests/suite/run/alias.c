/* Reads a bit of a register that has no model (STM32F407: I2S2ext) by its bit-band alias. */
#include <stdint.h>

void start(void);

__attribute__((section(".vectors"), used)) static void *const vectors[] = {(void *)0x20010000, (void *)start};

void start(void)
{
    (void)*(volatile uint32_t *)0x4206802c;
    for (;;) {
    }
}
