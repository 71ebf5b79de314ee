/* The flash of the STM32F407: RM0090, section 3.6. Words at once, which needs a supply from 2.7 V up (table 7). The core stands still while the
 * flash is at work, because its code lies there. Bits are changed from 1 to 0 without an erasure before (section 3.6.4, note).
 *
 * The lines that the data cache has kept are dropped behind a change (section 3.6.3). */
#include "../../../../boot/port.h"

#include "registers.h"

#define CR_PG (1u << 0)
#define CR_SER (1u << 1)
#define CR_SNB(sector) ((uint32_t)(sector) << 3)
#define CR_PSIZE_X32 (2u << 8)
#define CR_STRT (1u << 16)
#define CR_LOCK (1u << 31)
#define SR_BSY (1u << 16)
#define SR_ERRORS 0xf2u
#define ACR_DCEN (1u << 10)
#define ACR_DCRST (1u << 12)

/* Table 5. */
#define FLASH_START 0x08000000u
#define SECTORS 12u

static uint32_t sector_size(uint32_t sector)
{
    if (sector < 4) {
        return 0x4000u;
    }
    return sector == 4 ? 0x10000u : 0x20000u;
}

static void begin(uint32_t control)
{
    while (FLASH_SR & SR_BSY) {
    }
    if (FLASH_CR & CR_LOCK) {
        FLASH_KEYR = 0x45670123u;
        FLASH_KEYR = 0xcdef89abu;
    }
    FLASH_SR = SR_ERRORS;
    FLASH_CR = control | CR_PSIZE_X32;
}

static void end(void)
{
    const uint32_t settings = FLASH_ACR;

    while (FLASH_SR & SR_BSY) {
    }
    FLASH_CR = CR_LOCK;
    FLASH_ACR = settings & ~ACR_DCEN;
    FLASH_ACR = (settings & ~ACR_DCEN) | ACR_DCRST;
    FLASH_ACR = settings;
}

void ws_flash_read(uint32_t address, uint8_t *out, uint16_t len)
{
    const volatile uint8_t *from = (const volatile uint8_t *)address;

    while (len != 0) {
        *out++ = *from++;
        len--;
    }
}

int ws_flash_erase(uint32_t address, uint32_t len)
{
    const uint32_t last = address + len;
    const volatile uint32_t *word = (const volatile uint32_t *)address;
    uint32_t start = FLASH_START;
    uint32_t sector;

    for (sector = 0; sector < SECTORS; sector++) {
        const uint32_t size = sector_size(sector);

        if (start < last && address < start + size) {
            IWDG_KR = IWDG_FEED;
            begin(CR_SER | CR_SNB(sector));
            FLASH_CR |= CR_STRT;
            end();
        }
        start += size;
    }
    for (; (uint32_t)word < last; word++) {
        if (*word != 0xffffffffu) {
            return -1;
        }
    }
    return 0;
}

int ws_flash_program(uint32_t address, const uint8_t *data, uint16_t len)
{
    volatile uint32_t *const to = (volatile uint32_t *)address;
    uint16_t words = len / 4;
    uint8_t wrong = 0;
    uint16_t i;

    begin(CR_PG);
    for (i = 0; i < words; i++) {
        const uint8_t *word = data + 4 * i;

        to[i] = word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 | (uint32_t)word[3] << 24;
        while (FLASH_SR & SR_BSY) {
        }
    }
    end();
    for (i = 0; i < len; i++) {
        wrong |= data[i] ^ ((const volatile uint8_t *)address)[i];
    }
    return wrong == 0 ? 0 : -1;
}
