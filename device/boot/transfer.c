#include "transfer.h"

#include "../crypto/crc32.h"
#include "boot.h"
#include "port.h"

uint8_t ws_transfer_slot(const ws_boot_state *state)
{
    return state->confirmed == 0 ? 1 : 0;
}

uint32_t ws_transfer_id(const uint8_t fields[WS_IMAGE_FIELDS])
{
    return ~ws_crc32(WS_CRC32_BEGIN, fields, WS_IMAGE_FIELDS);
}

void ws_transfer_give_up(ws_transfer *transfer)
{
    transfer->begun = 0;
    transfer->journal->state.receiving = WS_BOOT_NONE;
    (void)ws_boot_journal_write(transfer->journal);
}

/* Where to go on in a slot that is partly filled: at its last piece that is not erased. What of that was torn when the power failed becomes
 * firm when it is programmed again. */
static uint32_t kept(uint8_t slot, uint32_t total, uint16_t piece)
{
    uint8_t bytes[WS_TRANSFER_PIECE];
    uint32_t at = (total - 1) / piece * piece;

    for (; at != 0; at -= piece) {
        const uint16_t len = total - at < piece ? (uint16_t)(total - at) : piece;
        uint8_t all = 0xff;
        uint16_t i;

        ws_flash_read(WS_BOOT_SLOT(slot) + at, bytes, len);
        for (i = 0; i < len; i++) {
            all &= bytes[i];
        }
        if (all != 0xff) {
            break;
        }
    }
    return at;
}

/* Empties the slot for an image. Returns whether it is empty, and the journal says so. */
static uint8_t empty(ws_transfer *transfer, uint8_t slot, uint32_t id)
{
    ws_boot_state *state = &transfer->journal->state;

    /* What is about to go is neither on trial nor gone on with. */
    if (state->trial != WS_BOOT_NONE || state->receiving != WS_BOOT_NONE) {
        state->trial = WS_BOOT_NONE;
        state->receiving = WS_BOOT_NONE;
        if (ws_boot_journal_write(transfer->journal) != 0) {
            return 0;
        }
    }
    if (ws_flash_erase(WS_BOOT_SLOT(slot), transfer->total) != 0) {
        return 0;
    }
    state->receiving = slot;
    state->image = id;
    return ws_boot_journal_write(transfer->journal) == 0;
}

uint8_t ws_transfer_begin(ws_transfer *transfer, const uint8_t fields[WS_IMAGE_FIELDS], uint16_t piece)
{
    const ws_boot_state *state = &transfer->journal->state;
    const uint8_t slot = ws_transfer_slot(state);
    const uint32_t id = ws_transfer_id(fields);
    ws_image image;
    const uint8_t refused = ws_image_header(fields, slot, state->floor, &image);

    transfer->begun = 0;
    if (refused != WS_IMAGE_GOOD) {
        return refused;
    }
    transfer->total = image.length + image.signature;
    if (state->receiving == slot && state->image == id) {
        transfer->next = kept(slot, transfer->total, piece);
    } else {
        if (!empty(transfer, slot, id)) {
            return WS_TRANSFER_NOT_KEPT;
        }
        transfer->next = 0;
    }
    transfer->begun = 1;
    return WS_IMAGE_GOOD;
}

uint8_t ws_transfer_take(ws_transfer *transfer, uint32_t offset, const uint8_t *data, uint16_t len)
{
    if (!transfer->begun) {
        return WS_TRANSFER_NOT_BEGUN;
    }
    /* Its answer was lost. */
    if (offset < transfer->next && len <= transfer->next - offset) {
        return WS_IMAGE_GOOD;
    }
    if (offset != transfer->next || len % 4 != 0 || len > transfer->total - transfer->next) {
        return WS_TRANSFER_OUT_OF_ORDER;
    }
    if (ws_flash_program(WS_BOOT_SLOT(transfer->journal->state.receiving) + offset, data, len) != 0) {
        ws_transfer_give_up(transfer);
        return WS_TRANSFER_NOT_KEPT;
    }
    transfer->next += len;
    return WS_IMAGE_GOOD;
}

uint8_t ws_transfer_whole(const ws_transfer *transfer)
{
    if (!transfer->begun) {
        return WS_TRANSFER_NOT_BEGUN;
    }
    return transfer->next == transfer->total ? WS_IMAGE_GOOD : WS_TRANSFER_OUT_OF_ORDER;
}

uint8_t ws_transfer_try(ws_transfer *transfer)
{
    ws_boot_state *state = &transfer->journal->state;

    state->trial = state->receiving;
    state->starts = WS_BOOT_STARTS;
    state->receiving = WS_BOOT_NONE;
    transfer->begun = 0;
    if (ws_boot_journal_write(transfer->journal) != 0) {
        state->trial = WS_BOOT_NONE;
        return WS_TRANSFER_NOT_KEPT;
    }
    return WS_IMAGE_GOOD;
}
