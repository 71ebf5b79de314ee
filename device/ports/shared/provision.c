/* In a section of its own, which the port's linker script puts where a programmer can write it without the program. */
#include "../../drivers/provision.h"

extern const volatile uint8_t ws_provision[WS_PROVISION_BYTES];

__attribute__((section(".provision"))) const volatile uint8_t ws_provision[WS_PROVISION_BYTES] = {0xff, 0xff};

void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len)
{
    const volatile uint8_t *in = ws_provision + at;

    while (len-- != 0) {
        *out++ = *in++;
    }
}
