/* The flash of the MSP430F5438A: SLAU208, "Flash Memory Controller"; SLAS655H, "Flash Memory". Words, one by one. The core stands still while the
 * flash is at work, because its code lies there. Bits are changed from 1 to 0 without an erasure before.
 *
 * A row of 128 bytes may be programmed for 16 ms in all between two erasures (tCPT), and a word takes up to 85 us: each of its words twice, and not
 * all of them a third time. So a word that reads as it should is left alone where another behind it is programmed: what is
 * programmed in the order of addresses is firm then, wherever the power failed. */
#include "../../../../boot/port.h"
#include "../../flash_controller.h"

#define REGISTER(address) (*(volatile uint16_t *)(address))
#define SR_GIE 0x0008u

#define SEGMENT 512u
#define ERASED 0xffffu

static volatile uint16_t *word_at(uint32_t address)
{
    return (volatile uint16_t *)(uint16_t)address;
}

/* No interrupt may fetch its vector, or run, while flash is at work. Returns the status register from before. */
static uint16_t unlock(uint16_t mode)
{
    uint16_t status;

    __asm__ volatile("mov r2, %0\n\tdint\n\tnop" : "=r"(status) : : "memory");
    while (FCTL3 & FCTL3_BUSY) {
    }
    FCTL3 = FWPW;
    FCTL1 = FWPW | mode;
    return status;
}

static void lock(uint16_t status)
{
    while (FCTL3 & FCTL3_BUSY) {
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | FCTL3_LOCK;
    if (status & SR_GIE) {
        __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
    }
}

void ws_flash_read(uint32_t address, uint8_t *out, uint16_t len)
{
    const volatile uint8_t *from = (const volatile uint8_t *)word_at(address);

    while (len != 0) {
        *out++ = *from++;
        len--;
    }
}

int ws_flash_erase(uint32_t address, uint32_t len)
{
    const uint32_t last = address + len;
    const uint16_t words = (uint16_t)len / 2;
    uint32_t segment;
    uint16_t i;

    for (segment = address - address % SEGMENT; segment < last; segment += SEGMENT) {
        const uint16_t status = unlock(FCTL1_ERASE);

        /* A write to anywhere in the segment erases it. */
        *word_at(segment) = 0;
        lock(status);
    }
    for (i = 0; i < words; i++) {
        if (word_at(address)[i] != ERASED) {
            return -1;
        }
    }
    return 0;
}

int ws_flash_program(uint32_t address, const uint8_t *data, uint16_t len)
{
    volatile uint16_t *const to = word_at(address);
    const uint16_t words = len / 2;
    uint16_t last = words;
    uint16_t wrong = 0;
    uint16_t status;
    uint16_t i;

    /* The last word that is programmed may be half done. */
    while (last != 0 && to[last - 1] == ERASED) {
        last--;
    }
    status = unlock(FCTL1_WRT);
    for (i = 0; i < words; i++) {
        const uint16_t word = data[2 * i] | (uint16_t)((uint16_t)data[2 * i + 1] << 8);

        if (i + 1 >= last || to[i] != word) {
            to[i] = word;
        }
    }
    lock(status);
    for (i = 0; i < words; i++) {
        wrong |= to[i] ^ (data[2 * i] | (uint16_t)((uint16_t)data[2 * i + 1] << 8));
    }
    return wrong == 0 ? 0 : -1;
}
