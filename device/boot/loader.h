/* The bootloader's UART: an image comes by it, in pieces (transfer.h). docs/how-to/firmware-update.md has requests and answers.
 *
 * Whatever comes: what is done with is never longer than a frame. */
#ifndef WS_BOOT_LOADER_H
#define WS_BOOT_LOADER_H

#include "frame.h"
#include "journal.h"
#include "transfer.h"

/* Requests. Answers have the highest bit, and behind it a result. */
enum { WS_LOADER_STATUS = 1, WS_LOADER_BEGIN = 2, WS_LOADER_DATA = 3, WS_LOADER_FINISH = 4, WS_LOADER_RUN = 5 };

/* A result beside those of image.h and transfer.h: no such request, or not of this length. */
#define WS_LOADER_UNKNOWN 16

/* Milliseconds that a start waits for a first frame, and for the next one. */
#define WS_LOADER_FIRST_MS 200
#define WS_LOADER_NEXT_MS 10000

/* Serves requests until it is told to run, or until no frame has come for too long.
 *
 * in: for_ever: it waits without end, because there is nothing to run. in/out: journal. */
void ws_loader_run(ws_boot_journal *journal, uint8_t for_ever);

#endif
