#include "loader.h"

#include "bytes.h"
#include "port.h"

#define VERSION 1
#define ANSWER 0x80
#define TARGET 16
/* Bytes of the longest answer: a status. */
#define ANSWER_BYTES 47

typedef struct {
    ws_transfer transfer;
    ws_frame frame;
    /* An image was received, and is on trial. */
    uint8_t finished;
    uint8_t answer[ANSWER_BYTES];
} loader;

static uint8_t status(loader *l)
{
    static const char target[TARGET] = WS_BOOT_TARGET;
    const ws_boot_state *state = &l->transfer.journal->state;
    uint8_t *out = l->answer + 2;
    uint8_t i;

    *out++ = VERSION;
    for (i = 0; i < TARGET; i++) {
        *out++ = (uint8_t)target[i];
    }
    *out++ = ws_transfer_slot(state);
    *out++ = state->confirmed;
    *out++ = state->trial;
    *out++ = state->starts;
    ws_write_32(out, state->floor);
    ws_write_32(out + 4, WS_BOOT_SLOT(ws_transfer_slot(state)));
    ws_write_32(out + 8, WS_BOOT_SLOT_SIZE);
    ws_write_32(out + 12, WS_BOOT_HEADER);
    ws_write_32(out + 16, l->transfer.begun ? l->transfer.next : 0);
    ws_write_32(out + 20, l->transfer.begun ? l->transfer.total : 0);
    return ANSWER_BYTES - 2;
}

static uint8_t finish(loader *l)
{
    const ws_boot_state *state = &l->transfer.journal->state;
    ws_image image;
    uint8_t refused;

    if (l->finished) {
        return WS_IMAGE_GOOD;
    }
    refused = ws_transfer_whole(&l->transfer);
    if (refused != WS_IMAGE_GOOD) {
        return refused;
    }
    refused = ws_image_verify(state->receiving, state->floor, &image);
    if (refused != WS_IMAGE_GOOD) {
        ws_transfer_give_up(&l->transfer);
        return refused;
    }
    refused = ws_transfer_try(&l->transfer);
    l->finished = refused == WS_IMAGE_GOOD;
    return refused;
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
        l->finished = 0;
        result = ws_transfer_begin(&l->transfer, body, WS_TRANSFER_PIECE);
    } else if (request == WS_LOADER_DATA && len > 4) {
        result = ws_transfer_take(&l->transfer, ws_read_32(body), body + 4, len - 4);
    } else if (request == WS_LOADER_FINISH && len == 0) {
        result = finish(l);
    } else if (request == WS_LOADER_RUN && len == 0) {
        result = WS_IMAGE_GOOD;
    }
    if (request == WS_LOADER_BEGIN || request == WS_LOADER_DATA) {
        ws_write_32(l->answer + 2, l->transfer.begun ? l->transfer.next : 0);
        more = 4;
    }
    l->answer[0] = request | ANSWER;
    l->answer[1] = result;
    ws_frame_send(l->answer, (uint8_t)(2 + more));
    return request == WS_LOADER_RUN && result == WS_IMAGE_GOOD;
}

void ws_loader_run(ws_boot_journal *journal, uint8_t for_ever)
{
    loader l;
    uint16_t left = WS_LOADER_FIRST_MS;

    l.transfer.journal = journal;
    l.transfer.begun = 0;
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
