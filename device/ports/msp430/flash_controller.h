/* The flash memory controller of the 5xx: SLAU208, "Flash Memory Controller", registers and bits. REGISTER is the file's own. */
#ifndef WS_MSP430_FLASH_CONTROLLER_H
#define WS_MSP430_FLASH_CONTROLLER_H

#define FCTL1 REGISTER(0x0140)
#define FCTL3 REGISTER(0x0144)
#define FWPW 0xa500u
#define FCTL1_ERASE 0x0002u
#define FCTL1_WRT 0x0040u
#define FCTL3_BUSY 0x0001u
#define FCTL3_LOCK 0x0010u

#endif
