#include "select.h"

#include "secret.h"

/* All bits set where entry is index, else none. */
static ws_word mask_of(uint8_t entry, uint8_t index)
{
    /* Only 0 - 1 borrows. */
    return (ws_word)(0 - (ws_word)ws_secret_bit((uint8_t)(((uint16_t)(uint8_t)(entry ^ index) - 1u) >> 8) & 1));
}

void ws_select(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries, uint8_t index)
{
    uint8_t i;
    uint8_t j;

    for (j = 0; j < words; j++) {
        r[j] = 0;
    }
    for (i = 0; i < entries; i++) {
        const ws_word mask = mask_of(i, index);

        for (j = 0; j < words; j++) {
            r[j] |= (ws_word)(*table++ & mask);
        }
    }
}

#if defined(__AVR__) || defined(__SDCC_mcs51)
void ws_select_constant(ws_word *r, const WS_IN_CONSTANTS ws_word *table, uint8_t words, uint8_t entries, uint8_t index)
{
    uint8_t i;
    uint8_t j;

    for (j = 0; j < words; j++) {
        r[j] = 0;
    }
    for (i = 0; i < entries; i++) {
        const ws_word mask = mask_of(i, index);

        for (j = 0; j < words; j++) {
            r[j] |= (ws_word)(ws_table_u8(table++) & mask);
        }
    }
}
#endif
