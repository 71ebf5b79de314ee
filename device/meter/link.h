/* Packets of the meter's protocol (docs/reference/protocol.md, "Packets"): messages cut into pieces, and made whole again. */
#ifndef WS_METER_LINK_H
#define WS_METER_LINK_H

#include "message.h"

#include <stdint.h>

/* Bytes before the piece. */
#define WS_LINK_HEADER 5

/* What a packet says, beside the piece itself. */
typedef struct {
    uint8_t kind;
    uint8_t suite;
    uint16_t meter;
    /* The number's lowest byte. */
    uint8_t number_lsb;
    /* Which piece from 0, of how many, and how long each is. */
    uint8_t index;
    uint8_t count;
    uint8_t bytes;
} ws_link_piece;

/* The unfinished message: all zeros is none. */
typedef struct {
    uint8_t suite;
    uint8_t number_lsb;
    /* A bit for each piece that is there. */
    uint8_t have;
} ws_link_assembly;

/* How many pieces a message of this length has, 1 to 3, and how long each is. */
uint8_t ws_link_pieces(uint8_t message_bytes);
uint8_t ws_link_piece_bytes(uint8_t message_bytes);

/* Writes the header of a packet. Returns the bytes of the piece, which is to follow it at packet + WS_LINK_HEADER.
 *
 * in: address: of the meter, that of who is to hear it within. header: of the message. index: of the piece, below
 * ws_link_pieces. out: packet. */
uint8_t ws_link_begin(uint8_t *packet, const ws_message_address *address, const ws_message_header *header, uint8_t index);

/* Reads the header of a packet: len bytes, any, of any length. Returns 0, or -1 where it is none of the protocol's, piece
 * untouched. The radio address is not looked at: the radio has done so. */
int ws_link_read(const uint8_t *packet, uint8_t len, ws_link_piece *piece);

/* Puts a piece, the bytes at data, to those that are there; begins anew where it is of another message.
 *
 * in/out: assembly; message: WS_MESSAGE_MAX bytes. Returns whether the message is whole; assembly is empty again then. */
uint8_t ws_link_collect(ws_link_assembly *assembly, const ws_link_piece *piece, const uint8_t *data, uint8_t *message);

#endif
