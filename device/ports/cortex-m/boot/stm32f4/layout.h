/* Where things are in the flash of the STM32F407: RM0090, table 5. Sectors 0 to 3 have 16 kB, sector 4 has 64 kB, 5 to 11 have 128 kB. Sectors 4
 * and 11 are nobody's. */
#define WS_BOOT_TARGET "stm32f407"

/* The core's clock after a reset, which stays. */
#define WS_BOOT_CLOCK_HZ 16000000

/* Sector 0. */
#define WS_BOOT_START 0x08000000
#define WS_BOOT_SIZE 0x4000
/* Sectors 1 and 2. */
#define WS_BOOT_JOURNAL_START 0x08004000
#define WS_BOOT_JOURNAL_SECTOR 0x4000
/* Sector 3: what is provisioned, for the programs of both slots. No image has it. */
#define WS_BOOT_PROVISION_START 0x0800c000
#define WS_BOOT_PROVISION_SIZE 0x4000
/* Sectors 5 to 7 and 8 to 10. */
#define WS_BOOT_SLOT_START 0x08020000
#define WS_BOOT_SLOT_SIZE 0x60000

/* The program begins with its vectors, whose address is a multiple of 512: 98 words, up to the next power of two (ARM DDI 0403E, B3.2.5). */
#define WS_BOOT_HEADER 512
