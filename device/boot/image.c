#include "image.h"

#include "../crypto/lms.h"
#include "bytes.h"
#include "port.h"

#define TARGET 16
/* "WSI1" */
#define MAGIC 0x57534931
#define CHUNK 64

/* Whether the name is this part's, behind it zeros. */
static uint8_t is_target(const uint8_t name[TARGET])
{
    static const char own[TARGET] = WS_BOOT_TARGET;
    uint8_t difference = 0;
    uint8_t i;

    for (i = 0; i < TARGET; i++) {
        difference |= (uint8_t)(name[i] ^ (uint8_t)own[i]);
    }
    return difference == 0;
}

uint8_t ws_image_header(const uint8_t fields[WS_IMAGE_FIELDS], uint8_t slot, uint32_t floor, ws_image *image)
{
    image->version = ws_read_32(fields + WS_IMAGE_AT_VERSION);
    image->length = ws_read_32(fields + WS_IMAGE_AT_LENGTH);
    image->signature = ws_read_32(fields + WS_IMAGE_AT_SIGNATURE);
    if (ws_read_32(fields + WS_IMAGE_AT_MAGIC) != MAGIC || ws_read_32(fields + WS_IMAGE_AT_HEADER) != WS_BOOT_HEADER ||
        image->length <= WS_BOOT_HEADER || image->length % 4 != 0 || image->signature <= WS_LMS_HEAD || image->signature % 4 != 0) {
        return WS_IMAGE_NONE;
    }
    if (!is_target(fields + WS_IMAGE_AT_TARGET)) {
        return WS_IMAGE_OTHER_TARGET;
    }
    if (image->length > WS_BOOT_SLOT_SIZE || image->signature > WS_BOOT_SLOT_SIZE - image->length) {
        return WS_IMAGE_LARGE;
    }
    if (ws_read_32(fields + WS_IMAGE_AT_ADDRESS) != WS_BOOT_SLOT(slot)) {
        return WS_IMAGE_OTHER_ADDRESS;
    }
    return image->version < floor ? WS_IMAGE_OLD : WS_IMAGE_GOOD;
}

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
