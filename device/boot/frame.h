/* Frames of the UART: RFC 1662's, section 4: 0x7e, bytes in which 0x7e and 0x7d are 0x7d and themselves ^ 0x20, 0x7e; the last four are the
 * CRC-32 (ISO 3309) of those before them, big-endian. Whatever does not check is dropped, and the next 0x7e begins anew. */
#ifndef WS_BOOT_FRAME_H
#define WS_BOOT_FRAME_H

#include <stdint.h>

/* The longest frame, without its check. */
#define WS_FRAME 261

/* A frame that is being received. Its first bytes are the frame's; the other members are the implementation's. */
typedef struct {
    uint8_t bytes[WS_FRAME + 4];
    uint16_t length;
    uint8_t escaped;
    uint8_t broken;
} ws_frame;

/* Begins to receive. out: frame. */
void ws_frame_start(ws_frame *frame);

/* Takes a byte. in/out: frame. Returns the length of the frame that it ends, 1 or more, which is there until the next call; else 0. */
uint16_t ws_frame_take(ws_frame *frame, uint8_t byte);

/* Sends a frame of len bytes. */
void ws_frame_send(const uint8_t *bytes, uint8_t len);

#endif
