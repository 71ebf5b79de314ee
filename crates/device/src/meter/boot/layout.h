/* Where things are in the flash that `flash.rs` has. */
#define WS_BOOT_TARGET "host"

#define WS_BOOT_JOURNAL_START 0
#define WS_BOOT_JOURNAL_SECTOR 0x1000
#define WS_BOOT_SLOT_START 0x2000
#define WS_BOOT_SLOT_SIZE 0x4000
#define WS_BOOT_HEADER 512
