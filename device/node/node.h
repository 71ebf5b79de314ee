/* The energy-harvested node that authenticates itself with ECDSA, after Mane and others (2014), sections 3.4 and 6.2.
 *
 * Periodic: every interval_s it wakes, measures the stored voltage and, where that suffices, signs a reading and sends it.
 * Asynchronous: it listens, and answers each challenge with a signature, where the stored voltage suffices.
 * Where it does not, nothing is sent, and the node sleeps until the next interval.
 *
 * Asynchronous listening costs the most, so it is by turns: every listen_every_ms the receiver is on for listen_for_ms. A
 * server that wants to be heard repeats its challenge without a pause for listen_every_ms + listen_for_ms, and the node
 * signs once it has heard a whole one: listen_for_ms must have room for two and for the receiver's start, 1.2 ms. A
 * challenge takes 35 bytes, 1.12 ms, at 250 kbit/s (4 preamble, 4 sync, 1 length, 24, 2 CRC). Each copy says when the
 * server will have ended, and the answer waits for that, at most listen_every_ms + listen_for_ms. With listen_every_ms = 0
 * the receiver stays on, at 18.8 mA (SWRS040C, Table 4, 250 kBaud, sensitivity), against an average of 80 uA with 5 ms in a
 * second: 1.1 ms of start at up to 7.4 mA, and 3.9 ms of that. Before it listens, the node looks whether it could answer;
 * if not, the receiver stays off for interval_s.
 * By wake on radio the radio keeps the time of these turns itself, a little more often and with a
 * receiver that is on for longer (drivers/wake_on_radio.h), and the processor sleeps: it looks at
 * the storage every interval_s, and listens once itself then.
 *
 * For the host. Two symbols of the linked program, both structures little-endian with the offsets below:
 *
 * ws_node_config, in flash, alone in a segment of 512 bytes: to be written before the part starts (a debugger does, or the
 * model's poke). A fresh image has format 0xffff, and the node sleeps in LPM4 for ever.
 *    0   2  format: WS_NODE_FORMAT
 *    2   1  mode: WS_NODE_PERIODIC, WS_NODE_ASYNCHRONOUS, WS_NODE_WAKE_ON_RADIO
 *    3   1  scheme: WS_SCHEME_SECP160R1 (with SHA-1) or WS_SCHEME_P256 (with SHA-256)
 *    4   4  node id
 *    8   4  the number that the counter begins with on a part whose information memory is empty
 *   12   2  interval_s, 1 to 65535: between readings; asynchronous, how long the node waits for
 *           energy; by wake on radio, from one look at the storage to the next
 *   14   2  threshold_mv of the stored voltage, from equation (6.1); the converter measures up to 5958 mV
 *   16   2  listen_every_ms: asynchronous, from one listening to the next, 0 without a pause
 *   18   2  listen_for_ms: asynchronous, how long each time, 1 and up
 *   20   1  radio address of the node, and
 *   21   1  of the server
 *   22   1  radio channel: 2433 MHz + 0.2 MHz times this
 *   23   1  output power as the CC2500's PATABLE has it: 0xfe is 0 dBm
 *   24  32  private key, big-endian: with secp160r1 the first 21 bytes, with P-256 all 32
 *
 * ws_node_status, in RAM, all 0 after a reset:
 *    0   4  wakes: intervals that came, or times that it listened
 *    4   4  challenges: to this node, well-formed
 *    8   4  messages signed
 *   12   4  messages sent, to the last packet
 *   16   4  refused: readings that were due, or challenges that came, without enough energy
 *   20   4  closed: asynchronous, times that it did not listen for lack of energy
 *   24   4  ignored: packets that came and were no challenge to this node
 *   28   4  faults of the radio: it did not start, or did not send in time
 *   32   4  faults of the counter's memory, or its end: then nothing is signed
 *   36   4  counter of the last message signed
 *   40   4  starts: as counter.h has them
 *   44   2  stored voltage, in millivolts, as last measured
 *   46   1  state: WS_NODE_... below
 *   47   1  1 where the private key was refused: 0, or not below the order of the curve; then nothing is sent
 *
 * Wiring (MSP430F5438A): drivers/ in ports/msp430. Secrets: the private key is in flash; its copy and all that signing makes of
 * it are wiped before the node sleeps. Signing takes a time that does not depend on key or message (crypto/ecdsa_*.h).
 *
 * RAM: 80 bytes beside the stack. No entropy is needed: nonces are RFC 6979's, and the counter (counter.h) makes every message
 * another one. */
#ifndef WS_NODE_NODE_H
#define WS_NODE_NODE_H

#include "counter.h"
#include "message.h"

#include <stdint.h>

#define WS_NODE_FORMAT 1
#define WS_NODE_PERIODIC 1
#define WS_NODE_ASYNCHRONOUS 2
#define WS_NODE_WAKE_ON_RADIO 3

#define WS_NODE_UNCONFIGURED 0
#define WS_NODE_SLEEPING 1
#define WS_NODE_LISTENING 2
#define WS_NODE_SIGNING 3
#define WS_NODE_SENDING 4

struct ws_node_config {
    uint16_t format;
    uint8_t mode;
    uint8_t scheme;
    uint32_t node_id;
    uint32_t first_counter;
    uint16_t interval_s;
    uint16_t threshold_mv;
    uint16_t listen_every_ms;
    uint16_t listen_for_ms;
    uint8_t node_address;
    uint8_t server_address;
    uint8_t channel;
    uint8_t power;
    uint8_t private_key[32];
};

struct ws_node_status {
    uint32_t wakes;
    uint32_t challenges;
    uint32_t signatures;
    uint32_t sent;
    uint32_t refused;
    uint32_t closed;
    uint32_t ignored;
    uint32_t radio_faults;
    uint32_t counter_faults;
    uint32_t counter;
    uint32_t starts;
    uint16_t stored_mv;
    uint8_t state;
    uint8_t key_refused;
};

/* A node at work. The members are the implementation's. */
typedef struct {
    const volatile struct ws_node_config *config;
    volatile struct ws_node_status *status;
    ws_counter counter;
    /* When it wakes next, in ticks of the clock. */
    uint32_t next;
    uint8_t radio_ready;
} ws_node;

/* Starts the node, and puts its radio to sleep. in: config, status (all 0): both stay the node's. out: node.
 * Returns 0; -1 for a configuration that it cannot work with: then ws_node_turn must not be called. */
int ws_node_start(ws_node *node, const volatile struct ws_node_config *config, volatile struct ws_node_status *status);

/* Sleeps until there is something to do, and does it once: a reading, or a time of listening. */
void ws_node_turn(ws_node *node);

#endif
