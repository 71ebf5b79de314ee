#include "link.h"

/* The first value of the field piece for a message of so many pieces. */
static uint8_t first(uint8_t count)
{
    return (uint8_t)(count * (count - 1) / 2);
}

uint8_t ws_link_pieces(uint8_t message_bytes)
{
    return message_bytes <= 56 ? 1 : message_bytes <= 112 ? 2 : 3;
}

uint8_t ws_link_piece_bytes(uint8_t message_bytes)
{
    return message_bytes / ws_link_pieces(message_bytes);
}

uint8_t ws_link_begin(uint8_t *packet, const ws_message_address *address, const ws_message_header *header, uint8_t index)
{
    const uint8_t bytes = ws_message_bytes(header->kind, header->suite);

    packet[0] = address->collector;
    packet[1] = (uint8_t)(header->kind << 6 | header->suite << 3 | (first(ws_link_pieces(bytes)) + index));
    packet[2] = address->meter[0];
    packet[3] = address->meter[1];
    packet[4] = (uint8_t)header->number;
    return ws_link_piece_bytes(bytes);
}

int ws_link_read(const uint8_t *packet, uint8_t len, ws_link_piece *piece)
{
    ws_link_piece read;
    uint8_t bytes;

    if (len < WS_LINK_HEADER) {
        return -1;
    }
    read.kind = packet[1] >> 6;
    read.suite = packet[1] >> 3 & 7;
    bytes = ws_message_bytes(read.kind, read.suite);
    if (bytes == 0) {
        return -1;
    }
    read.count = ws_link_pieces(bytes);
    read.bytes = ws_link_piece_bytes(bytes);
    /* Below the first one it is around, and large. */
    read.index = (uint8_t)((packet[1] & 7) - first(read.count));
    if (read.index >= read.count || len != WS_LINK_HEADER + read.bytes) {
        return -1;
    }
    read.meter = ws_message_read_16(packet + 2);
    read.number_lsb = packet[4];
    *piece = read;
    return 0;
}

uint8_t ws_link_collect(ws_link_assembly *assembly, const ws_link_piece *piece, const uint8_t *data, uint8_t *message)
{
    uint8_t i;

    if (assembly->suite != piece->suite || assembly->number_lsb != piece->number_lsb) {
        assembly->suite = piece->suite;
        assembly->number_lsb = piece->number_lsb;
        assembly->have = 0;
    }
    message += piece->index * piece->bytes;
    for (i = 0; i < piece->bytes; i++) {
        message[i] = data[i];
    }
    assembly->have |= (uint8_t)(1 << piece->index);
    if (assembly->have != (1 << piece->count) - 1) {
        return 0;
    }
    assembly->have = 0;
    return 1;
}
