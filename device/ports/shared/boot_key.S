/* LMS's public key, as `wattseal firmware keygen` writes it: BOOT_KEY=file of the Makefile. */
    .section .rodata.ws_boot_public_key, "a"
    .global ws_boot_public_key
    .type ws_boot_public_key, %object
ws_boot_public_key:
#ifdef WS_BOOT_KEY
    .incbin WS_BOOT_KEY, 0, 56
#else
    .fill 56, 1, 0xff
#endif
    .size ws_boot_public_key, . - ws_boot_public_key
