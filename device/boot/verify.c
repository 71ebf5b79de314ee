#include "image.h"

#include "../crypto/lms.h"
#include "bytes.h"
#include "journal.h"
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

/* The result of the last verification: its slot, and the root. */
static volatile uint8_t verified_slot;
static uint8_t verified_root[WS_LMS_ROOT];

uint8_t ws_image_verify(uint8_t slot, uint32_t floor, ws_image *image)
{
    const uint32_t start = WS_BOOT_SLOT(slot);
    uint8_t head[WS_LMS_HEAD];
    ws_lms_verification verification;
    const uint8_t *root;
    uint8_t refused;
    uint8_t i;

    verified_slot = WS_BOOT_NONE;
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
    root = ws_lms_verify_root(&verification);
    for (i = 0; i != WS_LMS_ROOT; i++) {
        verified_root[i] = root[i];
    }
    verified_slot = slot;
    return ws_lms_verify_end(&verification, ws_boot_public_key) == 0 ? WS_IMAGE_GOOD : WS_IMAGE_BAD_SIGNATURE;
}

uint32_t ws_image_difference(uint8_t slot, uint32_t floor)
{
    const volatile uint8_t *const root = verified_root;
    const uint8_t *const key = ws_boot_public_key + WS_LMS_PUBLIC_KEY - WS_LMS_ROOT;
    uint8_t version[4];
    uint8_t difference = slot ^ verified_slot;
    uint8_t i;

    for (i = 0; i != WS_LMS_ROOT; i++) {
        difference |= (uint8_t)(root[i] ^ key[i]);
    }
    ws_flash_read(WS_BOOT_SLOT(slot) + WS_IMAGE_AT_VERSION, version, sizeof version);
    return ws_read_32(version) < floor ? 1 : difference;
}
