/* In a section of its own that start-up leaves alone; on a part whose flash is erased in segments it fills one. */
#include "../../drivers/provision.h"

#define SEGMENT 512

extern const volatile uint8_t ws_provision[SEGMENT];

__attribute__((section(".provision"), aligned(SEGMENT))) const volatile uint8_t ws_provision[SEGMENT] = {0xff, 0xff};

void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len)
{
    const volatile uint8_t *in = ws_provision + at;

    while (len-- != 0) {
        *out++ = *in++;
    }
}
