/* The random number generator (RNG) of the nRF52840, Product Specification, RNG, with its bias
 * correction.
 *
 * Registers touched: RNG.TASKS_START 0x4000d000, TASKS_STOP 0x4000d004, EVENTS_VALRDY 0x4000d100,
 * CONFIG 0x4000d504, VALUE 0x4000d508. */
#include "random_module.h"

#include "clock.h"

#define RNG_TASKS_START REGISTER(0x4000d000)
#define RNG_TASKS_STOP REGISTER(0x4000d004)
#define RNG_EVENTS_VALRDY REGISTER(0x4000d100)
#define RNG_CONFIG REGISTER(0x4000d504)
#define RNG_CONFIG_DERCEN 1u
#define RNG_VALUE REGISTER(0x4000d508)

int ws_random_module_generate(uint8_t *out, uint16_t len)
{
    RNG_CONFIG = RNG_CONFIG_DERCEN;
    RNG_EVENTS_VALRDY = 0;
    RNG_TASKS_START = 1;
    while (len != 0) {
        while (!RNG_EVENTS_VALRDY) {
        }
        RNG_EVENTS_VALRDY = 0;
        *out++ = (uint8_t)RNG_VALUE;
        len--;
    }
    RNG_TASKS_STOP = 1;
    return 0;
}
