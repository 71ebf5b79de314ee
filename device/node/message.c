#include "message.h"

/* Offsets are those of message.h. */
static const uint8_t name[4] = {'W', 'S', 'N', '1'};

static void write_16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
}

static void write_32(uint8_t *out, uint32_t value)
{
    write_16(out, (uint16_t)(value >> 16));
    write_16(out + 2, (uint16_t)value);
}

static void copy(uint8_t *out, const uint8_t *in, uint8_t len)
{
    uint8_t i;

    for (i = 0; i < len; i++) {
        out[i] = in[i];
    }
}

uint8_t ws_message_signature_bytes(uint8_t scheme)
{
    switch (scheme) {
    case WS_SCHEME_SECP160R1:
        return 40;
    case WS_SCHEME_P256:
        return 64;
    default:
        return 0;
    }
}

uint8_t ws_message_signed(const ws_message *message, uint8_t out[WS_SIGNED_MAX])
{
    copy(out, name, 4);
    out[4] = message->type;
    out[5] = message->scheme;
    write_32(out + 6, message->node_id);
    write_32(out + 10, message->counter);
    write_16(out + 14, message->stored_mv);
    write_32(out + 16, message->uptime_s);
    if (message->type != WS_MESSAGE_ANSWER) {
        return 20;
    }
    copy(out + 20, message->challenge, WS_CHALLENGE_BYTES);
    return 20 + WS_CHALLENGE_BYTES;
}

/* The body's length before the signature. */
#define BODY_HEADER 10

uint8_t ws_message_packets(const ws_message *message)
{
    return BODY_HEADER + ws_message_signature_bytes(message->scheme) > WS_PIECE ? 2 : 1;
}

uint8_t ws_message_packet(const ws_message *message, const uint8_t *signature, uint8_t server_address, uint8_t index,
                          uint8_t *out)
{
    const uint8_t first = WS_PIECE - BODY_HEADER;
    uint8_t *const piece = out + WS_PIECE_HEADER;

    out[0] = server_address;
    out[1] = message->type;
    out[2] = (uint8_t)(index << 4 | ws_message_packets(message));
    write_32(out + 3, message->node_id);
    write_32(out + 7, message->counter);
    if (index != 0) {
        uint8_t rest = (uint8_t)(ws_message_signature_bytes(message->scheme) - first);

        copy(piece, signature + first, rest);
        return (uint8_t)(WS_PIECE_HEADER + rest);
    }
    write_16(piece, message->stored_mv);
    write_32(piece + 2, message->uptime_s);
    if (message->type == WS_MESSAGE_ANSWER) {
        copy(piece + 6, message->challenge, 4);
    } else {
        write_32(piece + 6, 0);
    }
    copy(piece + BODY_HEADER, signature, first);
    return WS_PIECE_HEADER + WS_PIECE;
}

uint8_t ws_message_read_challenge(const uint8_t *packet, uint8_t len, uint32_t node_id, uint8_t challenge[WS_CHALLENGE_BYTES],
                                  uint16_t *answer_in_ms)
{
    uint8_t id[4];
    uint8_t i;

    if (len != WS_CHALLENGE_PACKET || packet[1] != WS_MESSAGE_CHALLENGE) {
        return 0;
    }
    write_32(id, node_id);
    for (i = 0; i < 4; i++) {
        if (packet[2 + i] != id[i]) {
            return 0;
        }
    }
    copy(challenge, packet + 6, WS_CHALLENGE_BYTES);
    *answer_in_ms = (uint16_t)((uint16_t)packet[22] << 8 | packet[23]);
    return 1;
}
