#include "boot.h"

#include "bytes.h"
#include "image.h"
#include "journal.h"
#include "port.h"

int ws_boot_confirm(void)
{
    const uint8_t slot = ws_boot_running();
    ws_boot_journal journal;
    uint8_t version[4];

    if (slot == WS_BOOT_NONE) {
        return -1;
    }
    ws_boot_journal_start(&journal);
    if (journal.state.trial != slot) {
        return journal.state.confirmed == slot ? 0 : -1;
    }
    /* Verified by the bootloader before this ran. */
    ws_flash_read(WS_BOOT_SLOT(slot) + WS_IMAGE_AT_VERSION, version, sizeof version);
    journal.state.floor = ws_read_32(version);
    journal.state.confirmed = slot;
    journal.state.trial = WS_BOOT_NONE;
    return ws_boot_journal_write(&journal);
}
