/* The bootloader: runs the image that is to run, after it has verified it, and nothing else; takes new ones by the UART. docs/how-to/firmware-update.md */
#include "journal.h"
#include "loader.h"
#include "port.h"
#include "select.h"

int main(void)
{
    ws_boot_journal journal;

    ws_boot_journal_start(&journal);
    ws_boot_port_start();
    ws_loader_run(&journal, 0);
    for (;;) {
        const uint8_t slot = ws_boot_select(&journal);

        if (slot != WS_BOOT_NONE) {
            ws_boot_run(slot);
        }
        ws_loader_run(&journal, 1);
    }
}
