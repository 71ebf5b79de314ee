/* A radio that listens by turns by itself, while the processor sleeps. Implemented by the ports
 * whose radio can; all else of it is radio.h's. */
#ifndef WS_DRIVERS_WAKE_ON_RADIO_H
#define WS_DRIVERS_WAKE_ON_RADIO_H

#include "radio.h"

/* Returns whether the radio can listen by itself every every_ms or more often, for for_ms or longer
 * each time. The receiver's start is part of for_ms. */
uint8_t ws_radio_can_wait(uint16_t every_ms, uint16_t for_ms);

/* Has the radio listen so, first after every_ms, until it has received anything, or until the clock
 * (clock.h) is at deadline and nothing is coming. The radio is idle then.
 *
 * in: every_ms, for_ms: as ws_radio_can_wait takes them. out: packet: WS_RADIO_PACKET bytes, the
 * first of them the packet. Returns its length, at least 1; 0 where none came, or none for this
 * station; -1 where the radio does not answer, or cannot listen so. */
int ws_radio_wait(uint16_t every_ms, uint16_t for_ms, uint32_t deadline, uint8_t *packet);

#endif
