#include "update.h"

#if WS_HAS_UPDATES

#include "link.h"

#include "../boot/flash.h"

/* Where the arguments of the command are: bytes of the image (3), its version (4), the CRC-32 of its header (4). */
#define VERSION 3
#define ID 7

/* The first state that is a result. */
#define OVER 0xfc00

/* Bits of page 2. */
#define TAKES_SLOT 1
#define ON_TRIAL 2
#define TRIAL_NEXT 4

typedef char ws_update_header_is_staged[WS_UPDATE_HEADER * WS_PIECE_DATA >= WS_IMAGE_FIELDS ? 1 : -1];
typedef char ws_update_slot_has_indices[WS_BOOT_SLOT_SIZE / WS_PIECE_DATA < WS_PIECE_INDICES ? 1 : -1];

static uint32_t read_24(const uint8_t *in)
{
    return (uint32_t)in[0] << 16 | (uint32_t)ws_message_read_16(in + 1);
}

static void write_24(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 16);
    ws_message_write_16(out + 1, (uint16_t)value);
}

uint8_t ws_update_possible(void)
{
    return ws_boot_running() != WS_BOOT_NONE;
}

uint8_t ws_update_on_trial(void)
{
    ws_boot_journal journal;

    if (!ws_update_possible()) {
        return 0;
    }
    ws_boot_journal_start(&journal);
    return journal.state.trial == ws_boot_running();
}

uint8_t ws_update_look(const uint8_t arguments[11])
{
    ws_boot_journal journal;

    ws_boot_journal_start(&journal);
    /* The slot that it would go to is the one that runs. */
    if (journal.state.confirmed != ws_boot_running()) {
        return WS_UPDATE_ON_TRIAL;
    }
    if (read_24(arguments) > WS_BOOT_SLOT_SIZE) {
        return WS_IMAGE_LARGE;
    }
    return ws_message_read_32(arguments + VERSION) < journal.state.floor ? WS_IMAGE_OLD : WS_IMAGE_GOOD;
}

static void end(ws_update *update, uint8_t result)
{
    update->over = 1;
    update->result = result;
}

/* Begins to take the image, whose header is known, or goes on with it. Returns whether it does; else it is over. */
static uint8_t begin_transfer(ws_update *update, const uint8_t fields[WS_IMAGE_FIELDS])
{
    uint8_t refused = WS_IMAGE_NONE;

    if (ws_transfer_id(fields) == update->id) {
        refused = ws_transfer_begin(&update->transfer, fields, WS_PIECE_DATA);
        if (refused == WS_IMAGE_GOOD && update->transfer.total != update->total) {
            refused = WS_IMAGE_NONE;
        }
    }
    if (refused != WS_IMAGE_GOOD) {
        update->transfer.begun = 0;
        end(update, refused);
    }
    return update->transfer.begun;
}

void ws_update_begin(ws_update *update, uint32_t m, const uint8_t arguments[11])
{
    const ws_boot_state *state = &update->journal.state;
    uint8_t fields[WS_IMAGE_FIELDS];
    uint8_t slot;

    ws_boot_journal_start(&update->journal);
    update->transfer.journal = &update->journal;
    update->transfer.begun = 0;
    update->m = m;
    update->total = read_24(arguments);
    update->id = ws_message_read_32(arguments + ID);
    update->staged = 0;
    update->over = 0;
    slot = ws_transfer_slot(state);
    if (state->image != update->id) {
        return;
    }
    if (state->trial == slot) {
        end(update, WS_IMAGE_GOOD);
    } else if (state->receiving == slot) {
        ws_flash_read(WS_BOOT_SLOT(slot), fields, sizeof fields);
        /* Else the power failed before the header was whole. */
        if (ws_transfer_id(fields) == update->id) {
            (void)begin_transfer(update, fields);
        }
    }
}

/* What a reply says: the index that is wanted next, as many as there are where all is there, or OVER and a result. */
static uint16_t state_of(const ws_update *update)
{
    const ws_transfer *transfer = &update->transfer;

    if (update->over && update->result != WS_IMAGE_GOOD) {
        return (uint16_t)(OVER | update->result);
    }
    if (update->over) {
        return (uint16_t)((update->total + WS_PIECE_DATA - 1) / WS_PIECE_DATA);
    }
    return transfer->begun ? (uint16_t)(transfer->next / WS_PIECE_DATA) : update->staged;
}

/* Gives the transfer bytes that are next, or that it has. */
static void give(ws_update *update, uint32_t offset, const uint8_t *data)
{
    ws_transfer *transfer = &update->transfer;
    const uint32_t left = transfer->total - offset;
    const uint8_t taken = ws_transfer_take(transfer, offset, data, left < WS_PIECE_DATA ? (uint16_t)left : WS_PIECE_DATA);

    if (taken != WS_IMAGE_GOOD) {
        end(update, taken);
    }
}

/* Takes the piece that is next. */
static void take(ws_update *update, uint16_t index, const uint8_t data[WS_PIECE_DATA])
{
    if (update->transfer.begun) {
        give(update, (uint32_t)index * WS_PIECE_DATA, data);
    } else {
        ws_message_copy(update->header + index * WS_PIECE_DATA, data, WS_PIECE_DATA);
        update->staged++;
        if (update->staged == WS_UPDATE_HEADER && begin_transfer(update, update->header)) {
            uint8_t i;

            for (i = 0; i < WS_UPDATE_HEADER && !update->over; i++) {
                give(update, (uint32_t)i * WS_PIECE_DATA, update->header + i * WS_PIECE_DATA);
            }
        }
    }
    if (!update->over && ws_transfer_whole(&update->transfer) == WS_IMAGE_GOOD) {
        end(update, ws_transfer_try(&update->transfer));
    }
}

uint8_t ws_update_take(ws_update *update, ws_message_header *header, uint8_t *packet)
{
    const uint16_t index = ws_message_read_16(packet + WS_LINK_HEADER);
    /* Before what is sealed there are 4 bytes for m. */
    uint8_t *const message = packet + WS_LINK_HEADER + 2 - 4;
    uint8_t name[2];
    uint8_t data[WS_PIECE_DATA];
    uint16_t state;

    ws_message_copy(name, packet + 2, sizeof name);
    header->number = update->m;
    if (update->m == 0 || packet[4] != (uint8_t)update->m || index >= WS_PIECE_INDICES ||
        ws_message_open_piece(header, index, message, data) != 0) {
        return 0;
    }
    /* Any other one was taken already, or comes too early. */
    if (!update->over && index == state_of(update)) {
        take(update, index, data);
    }
    state = state_of(update);
    ws_message_seal_reply(header, state, message);
    ws_message_copy(packet + 2, name, sizeof name);
    packet[4] = (uint8_t)update->m;
    ws_message_write_16(packet + WS_LINK_HEADER, state);
    return 1;
}

void ws_update_status(const ws_update *update, uint8_t *out)
{
    const uint8_t running = ws_boot_running();
    ws_boot_journal journal;

    ws_boot_journal_start(&journal);
    ws_flash_read(WS_BOOT_SLOT(running) + WS_IMAGE_AT_VERSION, out, 4);
    out[4] = running == 0 ? TAKES_SLOT : 0;
    if (journal.state.trial == running) {
        out[4] |= ON_TRIAL;
    } else if (journal.state.trial != WS_BOOT_NONE) {
        out[4] |= TRIAL_NEXT;
    }
    write_24(out + 5, update->transfer.begun ? update->transfer.next : 0);
    write_24(out + 8, update->transfer.begun ? update->transfer.total : 0);
}

#else

/* ISO C wants something in a file. */
typedef char ws_update_is_in_no_message;

#endif
