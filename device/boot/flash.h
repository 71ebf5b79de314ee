/* The part's flash, and its two slots: what both the bootloader (port.h, which says what is in layout.h) and the programs that it runs need of it. */
#ifndef WS_BOOT_FLASH_H
#define WS_BOOT_FLASH_H

#include "layout.h"

#include <stdint.h>

#define WS_BOOT_SLOTS 2
#define WS_BOOT_SLOT(slot) (WS_BOOT_SLOT_START + (uint32_t)(slot) * WS_BOOT_SLOT_SIZE)

/* Reads flash. out: len bytes. */
void ws_flash_read(uint32_t address, uint8_t *out, uint16_t len);

/* Erases all sectors that have any of these bytes. in: address: of the journal or a slot; len: within it. Returns 0, or -1 where something of
 * them does not read erased. Where one takes seconds, a watchdog that runs is fed before each. */
int ws_flash_erase(uint32_t address, uint32_t len);

/* Makes those bits 0 that are 0 in the len bytes at data, word by word in the order of their addresses. Where the power fails meanwhile, the same
 * call makes the bits firm that are half programmed. in: address, len: divisible by 4,
 * within the journal or a slot. Returns 0, or -1 where they do not read back. */
int ws_flash_program(uint32_t address, const uint8_t *data, uint16_t len);

#endif
