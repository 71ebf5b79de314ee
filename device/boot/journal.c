#include "journal.h"

#include "../crypto/crc32.h"
#include "bytes.h"
#include "port.h"

#define SECTORS 2
#define RECORD 20
#define MARK 4
/* All of them are read at each start: of a large sector no more. */
#define MOST_PLACES 64
#define PLACES_IN_SECTOR (WS_BOOT_JOURNAL_SECTOR / (RECORD + MARK))
#define PLACES (PLACES_IN_SECTOR < MOST_PLACES ? PLACES_IN_SECTOR : MOST_PLACES)

static uint32_t address(uint8_t sector, uint8_t place)
{
    return WS_BOOT_JOURNAL_START + (uint32_t)sector * WS_BOOT_JOURNAL_SECTOR + (uint32_t)place * (RECORD + MARK);
}

static uint32_t check(const uint8_t *bytes)
{
    static const uint8_t name[4] = {'W', 'S', 'B', '1'};

    return ~ws_crc32(ws_crc32(WS_CRC32_BEGIN, name, sizeof name), bytes, RECORD - 4);
}

/* A slot's number, or none. */
static uint8_t is_slot_or_none(uint8_t slot)
{
    return slot < WS_BOOT_SLOTS || slot == WS_BOOT_NONE;
}

/* Reads the record at a place; returns whether it is valid. */
static uint8_t read_record(uint8_t sector, uint8_t place, uint8_t bytes[RECORD], ws_boot_state *out)
{
    ws_flash_read(address(sector, place), bytes, RECORD);
    out->sequence = ws_read_32(bytes);
    out->floor = ws_read_32(bytes + 4);
    out->confirmed = bytes[8];
    out->trial = bytes[9];
    out->starts = bytes[10];
    out->receiving = bytes[11];
    out->image = ws_read_32(bytes + 12);
    return ws_read_32(bytes + 16) == check(bytes) && is_slot_or_none(out->confirmed) && is_slot_or_none(out->trial) &&
           is_slot_or_none(out->receiving);
}

/* The newest record, and where it is; returns whether there is one. */
static uint8_t newest(ws_boot_state *out, uint8_t *sector, uint8_t *place)
{
    uint8_t bytes[RECORD];
    uint8_t found = 0;
    uint8_t i;
    uint8_t j;

    for (i = 0; i < SECTORS; i++) {
        for (j = 0; j < PLACES; j++) {
            ws_boot_state here;

            if (read_record(i, j, bytes, &here) && (!found || here.sequence > out->sequence)) {
                *out = here;
                *sector = i;
                *place = j;
                found = 1;
            }
        }
    }
    return found;
}

/* Programs the mark of a record. One that is not kept is programmed at the next start. */
static void mark(uint8_t sector, uint8_t place)
{
    static const uint8_t zeros[MARK];

    (void)ws_flash_program(address(sector, place) + RECORD, zeros, MARK);
}

/* Makes a valid record firm that has no mark. Returns 0, or -1 where the memory does not keep it. */
static int make_firm(uint8_t sector, uint8_t place)
{
    uint8_t bytes[RECORD + MARK];

    ws_flash_read(address(sector, place), bytes, sizeof bytes);
    if (ws_read_32(bytes + RECORD) != 0xffffffff) {
        return 0;
    }
    if (ws_flash_program(address(sector, place), bytes, RECORD) != 0) {
        return -1;
    }
    mark(sector, place);
    return 0;
}

void ws_boot_journal_start(ws_boot_journal *journal)
{
    ws_boot_state *state = &journal->state;

    journal->erased = 0;
    if (newest(state, &journal->sector, &journal->place)) {
        (void)make_firm(journal->sector, journal->place);
        return;
    }
    state->sequence = 0;
    state->floor = 0;
    state->confirmed = WS_BOOT_NONE;
    state->trial = WS_BOOT_NONE;
    state->starts = 0;
    state->receiving = WS_BOOT_NONE;
    state->image = 0;
}

/* Makes the sector ready that the next record goes to. Returns whether it is. */
static uint8_t make_room(ws_boot_journal *journal)
{
    static const uint8_t zeros[RECORD + MARK];
    ws_boot_state last;
    uint8_t sector = 1;
    uint8_t place = 0;

    if (newest(&last, &sector, &place) && !journal->erased &&
        (make_firm(sector, place) != 0 ||
         (place + 1 < PLACES && ws_flash_program(address(sector, (uint8_t)(place + 1)), zeros, sizeof zeros) != 0))) {
        return 0;
    }
    journal->sector = sector ^ 1;
    journal->place = 0;
    journal->erased = ws_flash_erase(address(journal->sector, 0), WS_BOOT_JOURNAL_SECTOR) == 0;
    return journal->erased;
}

int ws_boot_journal_write(ws_boot_journal *journal)
{
    uint8_t bytes[RECORD];
    ws_boot_state *state = &journal->state;

    if ((!journal->erased || journal->place >= PLACES) && !make_room(journal)) {
        return -1;
    }
    ws_write_32(bytes, state->sequence + 1);
    ws_write_32(bytes + 4, state->floor);
    bytes[8] = state->confirmed;
    bytes[9] = state->trial;
    bytes[10] = state->starts;
    bytes[11] = state->receiving;
    ws_write_32(bytes + 12, state->image);
    ws_write_32(bytes + 16, check(bytes));
    if (ws_flash_program(address(journal->sector, journal->place), bytes, RECORD) != 0) {
        journal->erased = 0;
        return -1;
    }
    mark(journal->sector, journal->place);
    journal->place++;
    state->sequence++;
    return 0;
}
