/* A packet radio, as the node and the meter use it. Implemented by a port.
 *
 * Packets begin with the receiver's radio address; others are not heard. A packet that came with a wrong check sum is not,
 * either. All functions return with the processor awake, and sleep while the radio is at work. */
#ifndef WS_DRIVERS_RADIO_H
#define WS_DRIVERS_RADIO_H

#include <stdint.h>

/* The longest packet, address included. */
#define WS_RADIO_PACKET 61

/* Resets the radio and sets it up, and leaves it asleep.
 *
 * in: address: of this station. channel, power: as the radio has them. Returns 0; -1 where no radio answers. */
int ws_radio_start(uint8_t address, uint8_t channel, uint8_t power);

/* Sends a packet, and returns when it is out; the radio is idle then: more can follow, or ws_radio_sleep.
 *
 * in: packet: len bytes, 1 to WS_RADIO_PACKET. Returns 0; -1 where the radio does not do it in time. */
int ws_radio_send(const uint8_t *packet, uint8_t len);

/* Listens until a packet has come, or until the clock (clock.h) is at deadline and none is coming. The radio is idle then.
 *
 * out: packet: WS_RADIO_PACKET bytes, the first of them the packet. Returns its length, at least 1; 0 where none came; -1
 * where the radio does not answer. */
int ws_radio_listen(uint32_t deadline, uint8_t *packet);

/* To the least current that keeps the settings. */
void ws_radio_sleep(void);

#endif
