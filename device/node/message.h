/* Messages of the harvested node, byte by byte, and what their signatures are of. All numbers are big-endian.
 *
 * A packet is what the radio's length byte counts, at most WS_RADIO_PACKET = 61 bytes: with the length byte before it and two
 * status bytes behind it, it fills a receiver's FIFO of 64 bytes.
 *
 * Challenge, from the server to a node, 24 bytes:
 *    0   1  radio address of the node
 *    1   1  WS_MESSAGE_CHALLENGE
 *    2   4  node id
 *    6  16  challenge: random, never used before
 *   22   2  milliseconds from the end of this packet until the server, which repeats it for nodes that listen by turns, will
 *           be listening itself: the node does not answer before
 *
 * Message of a node: a body of 50 bytes with secp160r1, 74 with P-256, in one packet or in two. Each packet has
 *    0   1  radio address of the server
 *    1   1  WS_MESSAGE_READING, or WS_MESSAGE_ANSWER to a challenge
 *    2   1  which piece of the body: number from 0 in the upper half, how many there are in the lower
 *    3   4  node id
 *    7   4  counter: none is used twice, and a later message has a higher one
 *   11      the piece: 50 bytes of the body, the last one what is left
 *
 * Body:
 *    0   2  stored voltage before signing, in millivolts
 *    2   4  uptime in seconds: since the last start, by the timer's clock
 *    6   4  the first four bytes of the challenge that is answered; 0 in a reading
 *   10      signature: r and s, 20 bytes each with secp160r1, 32 each with P-256
 *
 * Signed (with SHA-1 for secp160r1, SHA-256 for P-256) are 20 bytes, in an answer 36:
 *    0   4  "WSN1"
 *    4   1  type, as in the packets
 *    5   1  scheme: WS_SCHEME_SECP160R1 or WS_SCHEME_P256
 *    6   4  node id
 *   10   4  counter
 *   14   2  stored voltage
 *   16   4  uptime
 *   20  16  the challenge, all of it, in an answer alone
 *
 * A reading is shown to be new by its counter: a server takes none at or below the last that it took. An answer is, beside
 * that, bound to its challenge. Nobody signs challenges: whoever sends some makes the node spend energy, down to its
 * threshold and no further (power.h). */
#ifndef WS_NODE_MESSAGE_H
#define WS_NODE_MESSAGE_H

#include <stdint.h>

#define WS_MESSAGE_CHALLENGE 0x01
#define WS_MESSAGE_READING 0x02
#define WS_MESSAGE_ANSWER 0x03

#define WS_SCHEME_SECP160R1 0
#define WS_SCHEME_P256 1

#define WS_CHALLENGE_BYTES 16
#define WS_CHALLENGE_PACKET 24
#define WS_SIGNATURE_MAX 64
#define WS_SIGNED_MAX 36
#define WS_PIECE 50
#define WS_PIECE_HEADER 11

/* What a message says, beside its signature. */
typedef struct {
    uint8_t type;
    uint8_t scheme;
    uint16_t stored_mv;
    uint32_t node_id;
    uint32_t counter;
    uint32_t uptime_s;
    /* Of an answer; anything in a reading. */
    uint8_t challenge[WS_CHALLENGE_BYTES];
} ws_message;

/* Bytes of a scheme's signature: 40 or 64; 0 for a scheme that there is not. */
uint8_t ws_message_signature_bytes(uint8_t scheme);

/* Writes what is signed. Returns its length, 20 or 36. */
uint8_t ws_message_signed(const ws_message *message, uint8_t out[WS_SIGNED_MAX]);

/* How many packets the message takes: 1 or 2. */
uint8_t ws_message_packets(const ws_message *message);

/* Writes a packet, address first; returns its length.
 *
 * in: index: below ws_message_packets. signature: ws_message_signature_bytes of the scheme. out: WS_RADIO_PACKET bytes. */
uint8_t ws_message_packet(const ws_message *message, const uint8_t *signature, uint8_t server_address, uint8_t index,
                          uint8_t *out);

/* Reads a packet that came over the radio: any bytes of any length. Returns 1 for a challenge to this node, the challenge, and
 * the milliseconds until the server listens; 0 for all else, and leaves both as they were. The radio address is not looked
 * at: the radio has done so. */
uint8_t ws_message_read_challenge(const uint8_t *packet, uint8_t len, uint32_t node_id, uint8_t challenge[WS_CHALLENGE_BYTES],
                                  uint16_t *answer_in_ms);

#endif
