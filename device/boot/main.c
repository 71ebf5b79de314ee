/* The bootloader: runs the image that is to run, after it has verified it, and nothing else; takes new ones by the UART. docs/how-to/firmware-update.md */
#include "journal.h"
#include "loader.h"
#include "port.h"
#include "select.h"

#include "compiler.h"

/* Nothing may run: waits for an image. A function of its own, by which campaigns of faults know a
 * refusal. */
WS_NOINLINE static void wait_for_image(ws_boot_journal *journal)
{
    ws_loader_run(journal, 1);
}

int main(void)
{
    ws_boot_journal journal;

    ws_boot_journal_start(&journal);
    ws_boot_port_start();
    ws_loader_run(&journal, 0);
    for (;;) {
        const uint8_t slot = ws_boot_select(&journal);

        if (slot != WS_BOOT_NONE) {
            ws_boot_run(slot, journal.state.floor);
        }
        wait_for_image(&journal);
    }
}
