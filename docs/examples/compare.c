/* Two ways to compare a key, for `wattseal ct --call`. */

#include <stdint.h>

/* Returns at the first byte that differs, so that its time says where. */
int compare(const uint8_t *key, const uint8_t *given, unsigned len)
{
    unsigned i;

    for (i = 0; i < len; i++) {
        if (key[i] != given[i]) {
            return 0;
        }
    }
    return 1;
}

/* Reads all bytes, whatever they are. */
int equal(const uint8_t *key, const uint8_t *given, unsigned len)
{
    uint8_t difference = 0;
    unsigned i;

    for (i = 0; i < len; i++) {
        difference |= key[i] ^ given[i];
    }
    return ((unsigned)difference - 1) >> 8 & 1;
}
