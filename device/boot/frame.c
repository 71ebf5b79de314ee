#include "frame.h"

#include "../crypto/crc32.h"
#include "bytes.h"
#include "port.h"

#define FLAG 0x7e
#define ESCAPE 0x7d
#define CHECK 4

static uint32_t check(const uint8_t *bytes, uint16_t len)
{
    uint32_t crc = WS_CRC32_BEGIN;

    while (len != 0) {
        const uint8_t now = len < 0xff ? (uint8_t)len : 0xff;

        crc = ws_crc32(crc, bytes, now);
        bytes += now;
        len -= now;
    }
    return ~crc;
}

void ws_frame_start(ws_frame *frame)
{
    frame->length = 0;
    frame->escaped = 0;
    frame->broken = 0;
}

uint16_t ws_frame_take(ws_frame *frame, uint8_t byte)
{
    if (byte == FLAG) {
        const uint16_t length = frame->length;
        const uint8_t is_whole = !frame->broken && !frame->escaped && length > CHECK &&
                                 ws_read_32(frame->bytes + length - CHECK) == check(frame->bytes, length - CHECK);

        ws_frame_start(frame);
        return is_whole ? length - CHECK : 0;
    }
    if (byte == ESCAPE) {
        /* Twice in a row is no frame. */
        frame->broken |= frame->escaped;
        frame->escaped = 1;
        return 0;
    }
    if (frame->length == sizeof frame->bytes) {
        frame->broken = 1;
        return 0;
    }
    frame->bytes[frame->length] = frame->escaped ? byte ^ 0x20 : byte;
    frame->length++;
    frame->escaped = 0;
    return 0;
}

static void send_escaped(uint8_t byte)
{
    if (byte == FLAG || byte == ESCAPE) {
        ws_uart_send(ESCAPE);
        byte ^= 0x20;
    }
    ws_uart_send(byte);
}

void ws_frame_send(const uint8_t *bytes, uint8_t len)
{
    uint8_t crc[CHECK];
    uint8_t i;

    ws_write_32(crc, check(bytes, len));
    ws_uart_send(FLAG);
    for (i = 0; i < len; i++) {
        send_escaped(bytes[i]);
    }
    for (i = 0; i < CHECK; i++) {
        send_escaped(crc[i]);
    }
    ws_uart_send(FLAG);
}
