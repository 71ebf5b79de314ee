/* Information memory segments D (0x1800) and C (0x1880), 128 bytes each. SLAU208, "Flash Memory Controller"; the CPU rests while
 * the flash that it executes from is erased or programmed. */
#include "../../../drivers/nonvolatile.h"

#include "../flash_controller.h"
#include "registers.h"


#define INFORMATION 0x1800u

static volatile uint16_t *word_at(uint8_t segment, uint8_t offset)
{
    return (volatile uint16_t *)(INFORMATION + (uint16_t)segment * WS_NONVOLATILE_SEGMENT + offset);
}

/* No interrupt may fetch its vector from flash that is at work. */
static void unlock(uint16_t mode)
{
    __asm__ volatile("dint\n\tnop" ::: "memory");
    while (FCTL3 & FCTL3_BUSY) {
    }
    FCTL3 = FWPW;
    FCTL1 = FWPW | mode;
}

static void lock(void)
{
    while (FCTL3 & FCTL3_BUSY) {
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | FCTL3_LOCK;
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}

void ws_nonvolatile_read(uint8_t segment, uint8_t offset, uint8_t *out, uint8_t len)
{
    const volatile uint8_t *in = (const volatile uint8_t *)word_at(segment, 0) + offset;

    while (len-- != 0) {
        *out++ = *in++;
    }
}

void ws_nonvolatile_erase(uint8_t segment)
{
    unlock(FCTL1_ERASE);
    /* A write to anywhere in the segment erases it. */
    *word_at(segment, 0) = 0;
    lock();
}

void ws_nonvolatile_program(uint8_t segment, uint8_t offset, const uint8_t *data, uint8_t len)
{
    volatile uint16_t *to = word_at(segment, offset);

    unlock(FCTL1_WRT);
    for (; len != 0; len -= 2, data += 2) {
        *to++ = (uint16_t)(data[0] | (uint16_t)data[1] << 8);
    }
    lock();
}
