/* The energy register in EEPROM, over restarts and power failures at any byte write. What is
 * assumed of the EEPROM: meter/numbers.h.
 *
 * A record is n (4), the energy in 0.1 Wh (4) and the check of meter/record.h (4), letter 'R'. It
 * stands, written to its end and read back, before its telegram is sent; so a start, which goes on
 * with the record of the highest n, never has a register below one that was on the air, nor an n
 * that is the last one's. Energy since the last record is lost with the power.
 *
 * Records go round where other meters have their journal. A start that finds a record which the
 * power's loss cut short, and which reads whole, writes the next one behind it, before it sends.
 * All records are lost only if that happens at each slot in a row.
 *
 * Wear: a record for each telegram, in one slot of 64 after the other. */
#ifndef WS_OMS_REGISTER_H
#define WS_OMS_REGISTER_H

#include <stdint.h>

#define WS_REGISTER_AT 256
#define WS_REGISTER_RECORD 12
#define WS_REGISTER_SLOTS 64

/* n and energy are the newest record's, 0 of a meter without one; the rest is the
 * implementation's. */
typedef struct {
    uint32_t n;
    uint32_t energy;
    /* The slot of the next record. */
    uint8_t slot;
} ws_register;

/* Finds the newest record. Writes nothing. out: kept. */
void ws_register_start(ws_register *kept);

/* Keeps a register as the newest, and waits until it stands: 12 byte writes, after what is being
 * written in the background.
 *
 * in: n: above all before. in/out: kept, started. Returns 0; -1 where the memory does not keep
 * it. */
int ws_register_keep(ws_register *kept, uint32_t n, uint32_t energy);

#endif
