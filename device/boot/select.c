#include "select.h"

#include "image.h"
#include "port.h"

uint8_t ws_boot_select(ws_boot_journal *journal)
{
    ws_boot_state *state = &journal->state;
    ws_image image;

    if (state->trial != WS_BOOT_NONE) {
        if (state->starts != 0 && ws_image_verify(state->trial, state->floor, &image) == WS_IMAGE_GOOD) {
            /* Kept before it runs: an image that never reports in is not started again and again. */
            state->starts--;
            if (ws_boot_journal_write(journal) == 0) {
                ws_boot_watchdog();
                return state->trial;
            }
        }
        state->trial = WS_BOOT_NONE;
        (void)ws_boot_journal_write(journal);
    }
    if (state->confirmed != WS_BOOT_NONE && ws_image_verify(state->confirmed, state->floor, &image) == WS_IMAGE_GOOD) {
        return state->confirmed;
    }
    return WS_BOOT_NONE;
}
