/* An image of the meter's firmware that comes by radio, the meter's side, piece by piece into the
 * slot of the bootloader that does not run: docs/reference/protocol.md, "Firmware by radio".
 *
 * The collector sends one piece at a time, and each has a reply that says which one is wanted next: it is the same for whoever asks, until that one
 * has come, and nothing but that one is written. What has come is in flash; under which m it comes is in RAM: after a start the collector says anew
 * what it is, and the transfer goes on where flash says. Images are not verified here: the bootloader does that at every start, and runs none
 * that is not good.
 *
 * Where this build is for no slot there is nothing here. */
#ifndef WS_METER_UPDATE_H
#define WS_METER_UPDATE_H

#include "message.h"

#if WS_HAS_UPDATES

#include "../boot/boot.h"
#include "../boot/transfer.h"

#include <stdint.h>

/* What byte 1 of a packet has in its lowest three bits; a packet's bytes: 5 as others, the index (2), data, tag; the bytes of a reply: 5, the state
 * (2), tag. */
#define WS_UPDATE_PIECE 7
#define WS_UPDATE_PACKET 59
#define WS_UPDATE_REPLY 23

/* An image is refused because the one that runs is on trial itself. */
#define WS_UPDATE_ON_TRIAL 20

/* Seconds after which an image on trial starts anew that has not reported in: so it uses its starts up where its radio, or its collector, is not
 * there. */
#define WS_UPDATE_TRIAL_S 3600

/* Pieces that are kept in RAM until the header is whole. */
#define WS_UPDATE_HEADER 2

/* All 0 is none under way. The members are the implementation's. */
typedef struct {
    /* Of the command that began it. */
    uint32_t m;
    /* What that said: the image's bytes, and what names it. */
    uint32_t total;
    uint32_t id;
    /* Pieces in header. */
    uint8_t staged;
    /* It is over, and how: WS_IMAGE_GOOD is that all is there, and on trial at the next start. */
    uint8_t over;
    uint8_t result;
    ws_boot_journal journal;
    ws_transfer transfer;
    uint8_t header[WS_UPDATE_HEADER * WS_PIECE_DATA];
} ws_update;

/* Whether the bootloader runs this program. */
uint8_t ws_update_possible(void);

/* Whether the image that runs is on trial. */
uint8_t ws_update_on_trial(void);

/* Whether an image may come: 0, or why not.
 *
 * in: arguments: of the command, any 11 bytes. */
uint8_t ws_update_look(const uint8_t arguments[11]);

/* Begins, and forgets what was begun before. in: m: above 0, of the command, which is durable. arguments: ws_update_look has returned 0. */
void ws_update_begin(ws_update *update, uint32_t m, const uint8_t arguments[11]);

/* Takes a packet of the collector and makes the reply. It may take as long as an erasure of the image's sectors.
 *
 * in:     header: suite and key, as the meter has them. in/out: update; packet: of WS_UPDATE_PACKET bytes and piece WS_UPDATE_PIECE, for this
 *         meter; else any. It is the reply afterwards, but for its first two bytes: WS_UPDATE_REPLY of them.
 * Returns 1: the reply is to be sent. 0: there is none: of no update under way, or not authentic. */
uint8_t ws_update_take(ws_update *update, ws_message_header *header, uint8_t *packet);

/* Page 2 of the status. out: 11 bytes. */
void ws_update_status(const ws_update *update, uint8_t *out);

#endif
#endif
