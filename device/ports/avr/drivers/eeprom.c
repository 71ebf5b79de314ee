/* The EEPROM, written in the interrupt that comes when it is ready: 3.4 ms a byte (DS40002061, table 8-1). Interrupts must be on
 * (ws_clock_start). */
#include "../../../drivers/eeprom.h"

#include "sleep.h"

/* What is to be written: changed by the interrupt, and by others with interrupts off or while none can come. */
static volatile uint16_t next_at;
static const uint8_t *volatile next_in;
static volatile uint8_t left;

/* Ready: one byte more. Nothing else interrupts between the two writes to EECR (within 4 cycles; DS40002061, "EECR"). */
ISR(EE_READY_vect)
{
    if (left == 0) {
        EECR = 0;
        return;
    }
    left--;
    EEAR = next_at++;
    EEDR = *next_in++;
    EECR |= _BV(EEMPE);
    EECR |= _BV(EEPE);
}

/* Waits for the byte under way, and lets no other begin. */
static void pause(void)
{
    EECR &= (uint8_t)~_BV(EERIE);
    while (EECR & _BV(EEPE)) {
    }
}

void ws_eeprom_read(uint16_t at, uint8_t *out, uint8_t len)
{
    pause();
    for (; len != 0; len--) {
        EEAR = at++;
        EECR |= _BV(EERE);
        *out++ = EEDR;
    }
    if (left != 0) {
        EECR |= _BV(EERIE);
    }
}

uint8_t ws_eeprom_busy(void)
{
    return left != 0 || (EECR & _BV(EEPE)) != 0;
}

static void wait(void)
{
    for (;;) {
        cli();
        if (!ws_eeprom_busy()) {
            break;
        }
        /* Also for the end of the last byte, when none is left. */
        EECR |= _BV(EERIE);
        ws_avr_idle();
    }
    sei();
}

void ws_eeprom_begin(uint16_t at, const uint8_t *in, uint8_t len)
{
    wait();
    next_at = at;
    next_in = in;
    left = len;
    EECR |= _BV(EERIE);
}

void ws_eeprom_write(uint16_t at, const uint8_t *in, uint8_t len)
{
    ws_eeprom_begin(at, in, len);
    wait();
}

void ws_eeprom_abandon(void)
{
    pause();
    left = 0;
}
