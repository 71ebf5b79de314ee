/* What the bootloader needs of a part. Implemented by ports/<port>/boot/<family>, whose layout.h has where things are in flash:
 *
 *   WS_BOOT_TARGET              the target's name: images of others are refused
 *   WS_BOOT_CLOCK_HZ            the core's clock, which start-up sets and the bootloader hands over
 *   WS_BOOT_START, _SIZE        the bootloader
 *   WS_BOOT_JOURNAL_START, _SECTOR   two sectors of the journal, and the bytes of each
 *   WS_BOOT_SLOT_START, _SIZE   two slots, one behind the other
 *   WS_BOOT_HEADER              bytes of an image before its program
 *   WS_BOOT_PROVISION_START, _SIZE   what is provisioned (drivers/provision.h), where programs that need it have room in a slot
 *
 * Nothing of the journal or of a slot shares a sector with anything else. */
#ifndef WS_BOOT_PORT_H
#define WS_BOOT_PORT_H

#include "flash.h"

#include <stdint.h>

/* Sets up the UART, and the clock that ws_boot_ticked looks at. */
void ws_boot_port_start(void);

/* The next byte that has come, or -1. */
int16_t ws_uart_receive(void);

/* Sends a byte; returns when there is room for the next. */
void ws_uart_send(uint8_t byte);

/* Returns when all that was sent has gone out. */
void ws_uart_flush(void);

/* Whether a millisecond has gone by since the last call that said so. One that comes late says it once. */
uint8_t ws_boot_ticked(void);

/* Starts the watchdog: about 32 s, and only a reset ends it (STM32F407), or 16 s, and a program can hold it (MSP430F5438A). */
void ws_boot_watchdog(void);

/* Leaves the peripherals as after a reset, but for the clock and the watchdog, and runs the program
 * of a slot, where ws_image_difference is 0; else it waits for ever. Does not return. */
void ws_boot_run(uint8_t slot, uint32_t floor);

/* LMS's public key (crypto/lms.h) that images are signed for: in the bootloader's flash. All ones, which no signature is good for, where the
 * build was given none. */
extern const uint8_t ws_boot_public_key[];

#endif
