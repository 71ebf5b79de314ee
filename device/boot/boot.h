/* What an application calls that the bootloader starts. docs/how-to/firmware-update.md
 *
 * A new image runs on trial: each start of it is counted, a watchdog runs, and after WS_BOOT_STARTS starts the former image runs
 * again. An image that works says so by ws_boot_confirm, and feeds the watchdog from then on. */
#ifndef WS_BOOT_H
#define WS_BOOT_H

#include <stdint.h>

/* Starts that an image has to report in. */
#define WS_BOOT_STARTS 3

/* Says that this image works: it is the one that runs from now on, and no image of a lower version is taken or run any more. Erases and
 * programs flash where it is on trial, for about 0.3 s (STM32F407) or 0.04 s (MSP430F5438A); else it writes nothing.
 *
 * Returns 0 once that is kept. -1 where the memory does not keep it, or where the bootloader did not start this image. */
int ws_boot_confirm(void);

/* The slot that this program lies in, 0 or 1; WS_BOOT_NONE (journal.h) where it was linked for none. */
uint8_t ws_boot_running(void);

#endif
