#include "image.h"

#include "bytes.h"
#include "port.h"

#define TARGET 16
/* "WSI1" */
#define MAGIC 0x57534931

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
        image->length <= WS_BOOT_HEADER || image->length % 4 != 0 || image->signature <= WS_IMAGE_SIGNATURE_HEAD || image->signature % 4 != 0) {
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
