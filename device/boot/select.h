/* Which image runs. */
#ifndef WS_BOOT_SELECT_H
#define WS_BOOT_SELECT_H

#include "journal.h"

/* Verifies, and chooses: the image on trial while starts are left to it, of which this is one; else the confirmed one. An image on trial whose
 * starts are used up, or that does not verify, is on trial no more.
 *
 * in/out: journal. Returns the slot; or WS_BOOT_NONE where nothing may run. With an image on trial the watchdog runs. */
uint8_t ws_boot_select(ws_boot_journal *journal);

#endif
