#include "image.h"

#include "../crypto/lms.h"
#include "port.h"

#define CHUNK 64

typedef char ws_image_knows_the_head[WS_IMAGE_SIGNATURE_HEAD == WS_LMS_HEAD ? 1 : -1];

/* Hands a part of the slot to the verification. */
static void take(ws_lms_verification *verification, uint32_t address, uint32_t len,
                 void (*piece)(ws_lms_verification *, const uint8_t *, size_t))
{
    uint8_t bytes[CHUNK];

    while (len != 0) {
        const uint16_t now = len < CHUNK ? (uint16_t)len : CHUNK;

        ws_flash_read(address, bytes, now);
        piece(verification, bytes, now);
        address += now;
        len -= now;
    }
}

uint8_t ws_image_verify(uint8_t slot, uint32_t floor, ws_image *image)
{
    const uint32_t start = WS_BOOT_SLOT(slot);
    uint8_t head[WS_LMS_HEAD];
    ws_lms_verification verification;
    uint8_t refused;

    ws_flash_read(start, head, WS_IMAGE_FIELDS);
    refused = ws_image_header(head, slot, floor, image);
    if (refused != WS_IMAGE_GOOD) {
        return refused;
    }
    ws_flash_read(start + image->length, head, WS_LMS_HEAD);
    if (ws_lms_verify_begin(&verification, ws_boot_public_key, head) != 0) {
        return WS_IMAGE_BAD_SIGNATURE;
    }
    take(&verification, start, image->length, ws_lms_verify_message);
    take(&verification, start + image->length + WS_LMS_HEAD, image->signature - WS_LMS_HEAD, ws_lms_verify_signature);
    return ws_lms_verify_end(&verification, ws_boot_public_key) == 0 ? WS_IMAGE_GOOD : WS_IMAGE_BAD_SIGNATURE;
}
