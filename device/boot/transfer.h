/* Takes an image into the slot that does not run, piece by piece and in order, whoever brings it: the bootloader's UART (loader.h), or the meter's
 * radio (meter/update.h). docs/how-to/firmware-update.md
 *
 * Whatever comes: nothing but that slot and the journal is written. What was taken outlives the power: the image that was begun goes on where
 * flash says. */
#ifndef WS_BOOT_TRANSFER_H
#define WS_BOOT_TRANSFER_H

#include "image.h"
#include "journal.h"

#include <stdint.h>

/* Results beside those of image.h. */
enum {
    /* Not the bytes that are next, or not all of them. */
    WS_TRANSFER_OUT_OF_ORDER = 17,
    /* The memory does not keep what is written. */
    WS_TRANSFER_NOT_KEPT = 18,
    /* Nothing was begun. */
    WS_TRANSFER_NOT_BEGUN = 19
};

/* Data in a piece, at most. */
#define WS_TRANSFER_PIECE 256

/* One under way. All 0, but for the journal, is none. */
typedef struct {
    ws_boot_journal *journal;
    /* Whether an image is being received; what of it is kept, and its bytes in all. */
    uint8_t begun;
    uint32_t next;
    uint32_t total;
} ws_transfer;

/* The slot that takes an image: the one that is not confirmed. */
uint8_t ws_transfer_slot(const ws_boot_state *state);

/* What names an image in the journal: the CRC-32 of its header. */
uint32_t ws_transfer_id(const uint8_t fields[WS_IMAGE_FIELDS]);

/* Begins to take the image with this header, or goes on with it, where it was interrupted. Else the slot is erased as far as it needs it, and nothing
 * in it is on trial any more.
 *
 * in: piece: bytes of what is taken at once, up to WS_TRANSFER_PIECE: it goes on at a multiple of it. in/out: transfer, with a journal that was
 * started. Returns WS_IMAGE_GOOD; a reason of image.h, and nothing was written; WS_TRANSFER_NOT_KEPT. */
uint8_t ws_transfer_begin(ws_transfer *transfer, const uint8_t fields[WS_IMAGE_FIELDS], uint16_t piece);

/* Takes the bytes that are next; those that are kept already it takes for taken.
 *
 * in: data: len bytes. Returns WS_IMAGE_GOOD, WS_TRANSFER_NOT_BEGUN, WS_TRANSFER_OUT_OF_ORDER; WS_TRANSFER_NOT_KEPT, and the transfer is given up. */
uint8_t ws_transfer_take(ws_transfer *transfer, uint32_t offset, const uint8_t *data, uint16_t len);

/* Whether all of it is there: WS_IMAGE_GOOD, WS_TRANSFER_NOT_BEGUN, WS_TRANSFER_OUT_OF_ORDER. */
uint8_t ws_transfer_whole(const ws_transfer *transfer);

/* Puts the image on trial, all of which is there: the next start verifies it, and runs it where it is good. The transfer is over. Returns
 * WS_IMAGE_GOOD or WS_TRANSFER_NOT_KEPT. */
uint8_t ws_transfer_try(ws_transfer *transfer);

/* Nothing is being received any more: what is in the slot is not gone on with. */
void ws_transfer_give_up(ws_transfer *transfer);

#endif
