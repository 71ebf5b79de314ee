#include "loader.h"

#include "../crypto/crc32.h"
#include "boot.h"
#include "bytes.h"
#include "port.h"

#define VERSION 1
#define ANSWER 0x80
#define TARGET 16
/* Bytes of the longest answer: a status. */
#define ANSWER_BYTES 47

typedef struct {
    ws_journal *journal;
    ws_frame frame;
    /* Whether an image is being received; what of it is kept, and its bytes in all. */
    uint8_t begun;
    uint32_t next;
    uint32_t total;
    /* An image was received, and is on trial. */
    uint8_t finished;
    uint8_t answer[ANSWER_BYTES];
} loader;

/* The slot that does not run. */
static uint8_t free_slot(const ws_boot_state *state)
{
    return state->confirmed == 0 ? 1 : 0;
}

static uint8_t status(loader *l)
{
    static const char target[TARGET] = WS_BOOT_TARGET;
    const ws_boot_state *state = &l->journal->state;
    uint8_t *out = l->answer + 2;
    uint8_t i;

    *out++ = VERSION;
    for (i = 0; i < TARGET; i++) {
        *out++ = (uint8_t)target[i];
    }
    *out++ = free_slot(state);
    *out++ = state->confirmed;
    *out++ = state->trial;
    *out++ = state->starts;
    ws_write_32(out, state->floor);
    ws_write_32(out + 4, WS_BOOT_SLOT(free_slot(state)));
    ws_write_32(out + 8, WS_BOOT_SLOT_SIZE);
    ws_write_32(out + 12, WS_BOOT_HEADER);
    ws_write_32(out + 16, l->begun ? l->next : 0);
    ws_write_32(out + 20, l->begun ? l->total : 0);
    return ANSWER_BYTES - 2;
}

/* Nothing is being received any more: what is in the slot is not gone on with. */
static void give_up(loader *l)
{
    l->begun = 0;
    l->journal->state.receiving = WS_BOOT_NONE;
    (void)ws_journal_write(l->journal);
}

/* Where to go on in a slot that is partly filled: at its last piece that is not erased. What of that was torn when the power failed becomes
 * firm when it is programmed again. */
static uint32_t kept(uint8_t slot, uint32_t total)
{
    uint8_t bytes[WS_LOADER_PIECE];
    uint32_t at = (total - 1) / WS_LOADER_PIECE * WS_LOADER_PIECE;

    for (; at != 0; at -= WS_LOADER_PIECE) {
        const uint16_t len = total - at < WS_LOADER_PIECE ? (uint16_t)(total - at) : WS_LOADER_PIECE;
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

/* Empties the free slot for an image. Returns whether it is empty, and the journal says so. */
static uint8_t empty(loader *l, uint8_t slot, uint32_t id)
{
    ws_boot_state *state = &l->journal->state;

    /* What is about to go is neither on trial nor gone on with. */
    if (state->trial != WS_BOOT_NONE || state->receiving != WS_BOOT_NONE) {
        state->trial = WS_BOOT_NONE;
        state->receiving = WS_BOOT_NONE;
        if (ws_journal_write(l->journal) != 0) {
            return 0;
        }
    }
    if (ws_flash_erase(WS_BOOT_SLOT(slot), l->total) != 0) {
        return 0;
    }
    state->receiving = slot;
    state->image = id;
    return ws_journal_write(l->journal) == 0;
}

static uint8_t begin(loader *l, const uint8_t *fields)
{
    const ws_boot_state *state = &l->journal->state;
    const uint8_t slot = free_slot(state);
    const uint32_t id = ~ws_crc32(WS_CRC32_BEGIN, fields, WS_IMAGE_FIELDS);
    ws_image image;
    const uint8_t refused = ws_image_header(fields, slot, state->floor, &image);

    l->begun = 0;
    l->finished = 0;
    if (refused != WS_IMAGE_GOOD) {
        return refused;
    }
    l->total = image.length + image.signature;
    if (state->receiving == slot && state->image == id) {
        l->next = kept(slot, l->total);
    } else {
        if (!empty(l, slot, id)) {
            return WS_LOADER_NOT_KEPT;
        }
        l->next = 0;
    }
    l->begun = 1;
    return WS_IMAGE_GOOD;
}

static uint8_t take(loader *l, uint32_t offset, const uint8_t *data, uint16_t len)
{
    if (!l->begun) {
        return WS_LOADER_NOT_BEGUN;
    }
    /* Its answer was lost. */
    if (offset < l->next && len <= l->next - offset) {
        return WS_IMAGE_GOOD;
    }
    if (offset != l->next || len % 4 != 0 || len > l->total - l->next) {
        return WS_LOADER_OUT_OF_ORDER;
    }
    if (ws_flash_program(WS_BOOT_SLOT(l->journal->state.receiving) + offset, data, len) != 0) {
        give_up(l);
        return WS_LOADER_NOT_KEPT;
    }
    l->next += len;
    return WS_IMAGE_GOOD;
}

static uint8_t finish(loader *l)
{
    ws_boot_state *state = &l->journal->state;
    ws_image image;
    uint8_t refused;

    if (l->finished) {
        return WS_IMAGE_GOOD;
    }
    if (!l->begun) {
        return WS_LOADER_NOT_BEGUN;
    }
    if (l->next != l->total) {
        return WS_LOADER_OUT_OF_ORDER;
    }
    refused = ws_image_verify(state->receiving, state->floor, &image);
    if (refused != WS_IMAGE_GOOD) {
        give_up(l);
        return refused;
    }
    state->trial = state->receiving;
    state->starts = WS_BOOT_STARTS;
    state->receiving = WS_BOOT_NONE;
    l->begun = 0;
    if (ws_journal_write(l->journal) != 0) {
        state->trial = WS_BOOT_NONE;
        return WS_LOADER_NOT_KEPT;
    }
    l->finished = 1;
    return WS_IMAGE_GOOD;
}

/* Does what a frame asks for, and answers. Returns whether it says to run. */
static uint8_t serve(loader *l, uint16_t length)
{
    const uint8_t *frame = l->frame.bytes;
    const uint8_t *body = frame + 1;
    const uint16_t len = length - 1;
    const uint8_t request = frame[0];
    uint8_t result = WS_LOADER_UNKNOWN;
    uint8_t more = 0;

    if (request == WS_LOADER_STATUS && len == 0) {
        result = WS_IMAGE_GOOD;
        more = status(l);
    } else if (request == WS_LOADER_BEGIN && len == WS_IMAGE_FIELDS) {
        result = begin(l, body);
    } else if (request == WS_LOADER_DATA && len > 4) {
        result = take(l, ws_read_32(body), body + 4, len - 4);
    } else if (request == WS_LOADER_FINISH && len == 0) {
        result = finish(l);
    } else if (request == WS_LOADER_RUN && len == 0) {
        result = WS_IMAGE_GOOD;
    }
    if (request == WS_LOADER_BEGIN || request == WS_LOADER_DATA) {
        ws_write_32(l->answer + 2, l->begun ? l->next : 0);
        more = 4;
    }
    l->answer[0] = request | ANSWER;
    l->answer[1] = result;
    ws_frame_send(l->answer, (uint8_t)(2 + more));
    return request == WS_LOADER_RUN && result == WS_IMAGE_GOOD;
}

void ws_loader_run(ws_journal *journal, uint8_t for_ever)
{
    loader l;
    uint16_t left = WS_LOADER_FIRST_MS;

    l.journal = journal;
    l.begun = 0;
    l.finished = 0;
    ws_frame_start(&l.frame);
    for (;;) {
        const int16_t byte = ws_uart_receive();
        const uint16_t length = byte < 0 ? 0 : ws_frame_take(&l.frame, (uint8_t)byte);

        if (length != 0) {
            if (serve(&l, length)) {
                return;
            }
            left = WS_LOADER_NEXT_MS;
        }
        if (ws_boot_ticked() && !for_ever) {
            left--;
            if (left == 0) {
                return;
            }
        }
    }
}
