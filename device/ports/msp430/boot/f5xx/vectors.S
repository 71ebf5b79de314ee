; The vectors of the bootloader, which stay when a program runs: each but the reset's goes to an instruction that jumps to where the program's
; vectors, which lie in RAM, say.

#include "layout.h"

; A jump has two words. `row` is 16 vectors.
    .section .text.ws_boot_jumps, "ax", @progbits
ws_boot_jumps:
    .irp row, 0, 1, 2, 3
    .irp column, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    br &(WS_BOOT_VECTORS + 32 * \row + 2 * \column)
    .endr
    .endr

    .section .vectors, "a", @progbits
    .irp row, 0, 1, 2
    .irp column, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .short ws_boot_jumps + 64 * \row + 4 * \column
    .endr
    .endr
    .irp column, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    .short ws_boot_jumps + 192 + 4 * \column
    .endr
    .short ws_reset
