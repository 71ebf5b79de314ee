/* An application for the bootloader's tests: it sends what it is by the bootloader's UART, has an interrupt, reports in or does not, and sleeps.
 * The host writes ws_update into the image before it is signed. */
#include "../boot/boot.h"
#include "../boot/port.h"
#include "interrupt.h"

#include <stdint.h>

enum { SILENT = 0, CONFIRMS = 1 };

/* What it says, and what it does. */
struct update {
    uint8_t name;
    uint8_t behaviour;
};

const struct update ws_update __attribute__((used)) = {'?', SILENT};

int main(void)
{
    /* Not what the compiler knows of it. */
    const volatile struct update *const update = &ws_update;

    ws_boot_port_start();
    ws_uart_send('<');
    ws_uart_send(update->name);
    ws_update_await_interrupt();
    if (update->behaviour == CONFIRMS) {
        ws_uart_send(ws_boot_confirm() == 0 ? '+' : '!');
    }
    ws_uart_send('>');
    ws_uart_flush();
    ws_update_sleep();
    return 0;
}
