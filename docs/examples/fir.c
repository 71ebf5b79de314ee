/* A function to be measured on parts without a board:
 *
 *   wattseal measure docs/examples/fir.c --call 'fir(i16[64], 64)' --target atmega328p */
#include <stdint.h>

int32_t fir(const int16_t *samples, uint8_t count)
{
    int32_t sum = 0;

    for (uint8_t i = 0; i < count; i++) {
        sum += (int32_t)samples[i] * samples[count - 1 - i];
    }
    return sum;
}
