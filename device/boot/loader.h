/* Takes an image by the UART, in pieces, into the slot that does not run. docs/firmware-update.md has requests and answers.
 *
 * Whatever comes: nothing but that slot and the journal is written, and what is done with is never longer than a frame. */
#ifndef WS_BOOT_LOADER_H
#define WS_BOOT_LOADER_H

#include "frame.h"
#include "image.h"
#include "journal.h"

/* Requests. Answers have the highest bit, and behind it a result. */
enum { WS_LOADER_STATUS = 1, WS_LOADER_BEGIN = 2, WS_LOADER_DATA = 3, WS_LOADER_FINISH = 4, WS_LOADER_RUN = 5 };

/* Results beside those of image.h. */
enum {
    /* No such request, or not of this length. */
    WS_LOADER_UNKNOWN = 16,
    /* Not the bytes that are next. */
    WS_LOADER_OUT_OF_ORDER = 17,
    /* The memory does not keep what is written. */
    WS_LOADER_NOT_KEPT = 18,
    /* Nothing was begun. */
    WS_LOADER_NOT_BEGUN = 19
};

/* Data in a request, at most. */
#define WS_LOADER_PIECE 256

/* Milliseconds that a start waits for a first frame, and for the next one. */
#define WS_LOADER_FIRST_MS 200
#define WS_LOADER_NEXT_MS 10000

/* Serves requests until it is told to run, or until no frame has come for too long.
 *
 * in: for_ever: it waits without end, because there is nothing to run. in/out: journal. */
void ws_loader_run(ws_journal *journal, uint8_t for_ever);

#endif
