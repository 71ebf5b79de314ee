#include "../../../drivers/provision.h"

#include <avr/pgmspace.h>

extern const uint8_t ws_provision[WS_PROVISION_BYTES];

/* As erased flash is. */
__attribute__((used, section(".provision"))) const uint8_t ws_provision[WS_PROVISION_BYTES] = {
    [0 ... WS_PROVISION_BYTES - 1] = 0xff};

void ws_provision_read(uint8_t at, uint8_t *out, uint8_t len)
{
    for (; len != 0; len--) {
        *out++ = pgm_read_byte(&ws_provision[at++]);
    }
}
