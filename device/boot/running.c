#include "boot.h"

#include "journal.h"
#include "port.h"

uint8_t ws_boot_running(void)
{
    const uint32_t offset = (uint32_t)(uintptr_t)&ws_boot_running - WS_BOOT_SLOT_START;

    return offset < WS_BOOT_SLOTS * WS_BOOT_SLOT_SIZE ? (uint8_t)(offset / WS_BOOT_SLOT_SIZE) : WS_BOOT_NONE;
}
