/* Where things are in the flash of the MSP430F5438A: SLAS655H, table 9-2, of which this is what lies below 64 kB, because the compiler reaches no
 * further. A segment has 512 bytes (SLAU208, "Flash Memory Controller"). */
#define WS_BOOT_TARGET "msp430f5438a"

/* The core's clock while the bootloader runs, and which it hands over: the highest at the core voltage after a reset. */
#define WS_BOOT_CLOCK_HZ 8000000

/* With the vectors, which are the bootloader's: vectors.S. */
#define WS_BOOT_START 0xd400
#define WS_BOOT_SIZE 0x2c00
/* Two segments. */
#define WS_BOOT_JOURNAL_START 0xd000
#define WS_BOOT_JOURNAL_SECTOR 0x200
/* 29 segments each. */
#define WS_BOOT_SLOT_START 0x5c00
#define WS_BOOT_SLOT_SIZE 0x3a00

/* A segment; the program begins with its vectors, 64 words. */
#define WS_BOOT_HEADER 512

/* The vectors of the program that runs: the last 128 bytes of RAM. */
#define WS_BOOT_VECTORS 0x5b80
#define WS_BOOT_VECTORS_SIZE 0x80
