#include "oms_kdf.h"

#include "aes_cmac.h"

void ws_oms_kdf(const uint8_t key[16], uint8_t constant, const uint8_t counter[4],
                const uint8_t meter[4], uint8_t derived[16])
{
    uint8_t input[16];
    uint8_t i;

    input[0] = constant;
    for (i = 0; i < 4; i++) {
        input[1 + i] = counter[i];
        input[5 + i] = meter[i];
    }
    for (i = 9; i < 16; i++) {
        input[i] = 7;
    }
    ws_aes_cmac(key, 4, input, sizeof input, derived);
}
