/* The seed's slots (crypto/seed.h) in the EEPROM: docs/reference/protocol.md, "Provisioning". */
#include "../crypto/seed.h"
#include "../drivers/eeprom.h"

static uint16_t place(uint8_t slot)
{
    return (uint16_t)slot * WS_SEED_RECORD;
}

void ws_seed_read(uint8_t slot, uint8_t record[WS_SEED_RECORD])
{
    ws_eeprom_read(place(slot), record, WS_SEED_RECORD);
}

void ws_seed_write(uint8_t slot, const uint8_t record[WS_SEED_RECORD])
{
    ws_eeprom_write(place(slot), record, WS_SEED_RECORD);
}
