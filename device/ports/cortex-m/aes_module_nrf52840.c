/* AES electronic codebook mode encryption (ECB) of the nRF52840, Product Specification, ECB: key,
 * cleartext and ciphertext lie in RAM, and the module reads and writes them itself.
 *
 * Registers touched: ECB.TASKS_STARTECB 0x4000e000, EVENTS_ENDECB 0x4000e100, EVENTS_ERRORECB
 * 0x4000e104, ECBDATAPTR 0x4000e504. */
#include "aes_module.h"

#include "clock.h"
#include "compiler.h"

#define ECB_TASKS_STARTECB REGISTER(0x4000e000)
#define ECB_EVENTS_ENDECB REGISTER(0x4000e100)
#define ECB_EVENTS_ERRORECB REGISTER(0x4000e104)
#define ECB_ECBDATAPTR REGISTER(0x4000e504)

/* Zeroes bytes that nothing reads afterwards. */
static void erase(volatile uint8_t *bytes, uint8_t count)
{
    while (count != 0) {
        *bytes++ = 0;
        count--;
    }
}

int ws_aes128_module_encrypt(const uint8_t key[16], const uint8_t in[16], uint8_t out[16])
{
    WS_ALIGNED struct {
        uint8_t key[16];
        uint8_t cleartext[16];
        uint8_t ciphertext[16];
    } data;
    int result = 0;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        data.key[i] = key[i];
        data.cleartext[i] = in[i];
        data.ciphertext[i] = 0;
    }
    ECB_ECBDATAPTR = (uint32_t)(uintptr_t)&data;
    ECB_EVENTS_ENDECB = 0;
    ECB_EVENTS_ERRORECB = 0;
    WS_BARRIER();
    ECB_TASKS_STARTECB = 1;
    while (!ECB_EVENTS_ENDECB && !ECB_EVENTS_ERRORECB) {
    }
    WS_BARRIER();
    if (ECB_EVENTS_ERRORECB) {
        result = -1;
    }
    for (i = 0; i < 16; i++) {
        out[i] = result == 0 ? data.ciphertext[i] : 0;
    }
    erase((volatile uint8_t *)&data, sizeof data);
    return result;
}
