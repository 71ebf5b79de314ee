/* An image, as it lies in its slot: header, program, signature. docs/how-to/firmware-update.md has the header's bytes. */
#ifndef WS_BOOT_IMAGE_H
#define WS_BOOT_IMAGE_H

#include <stdint.h>

/* Bytes of the header that say anything; up to the program the rest is signed, too. */
#define WS_IMAGE_FIELDS 40

/* A signature has more than that (WS_LMS_HEAD of crypto/lms.h). */
#define WS_IMAGE_SIGNATURE_HEAD 40

/* Where a field begins. */
enum {
    WS_IMAGE_AT_MAGIC = 0,
    WS_IMAGE_AT_TARGET = 4,
    WS_IMAGE_AT_VERSION = 20,
    WS_IMAGE_AT_ADDRESS = 24,
    WS_IMAGE_AT_HEADER = 28,
    WS_IMAGE_AT_LENGTH = 32,
    WS_IMAGE_AT_SIGNATURE = 36
};

/* Why an image is refused; also results of a transfer (transfer.h). */
enum {
    WS_IMAGE_GOOD = 0,
    /* No image's header, or sizes that no image has. */
    WS_IMAGE_NONE = 1,
    WS_IMAGE_OTHER_TARGET = 2,
    /* Linked for another slot. */
    WS_IMAGE_OTHER_ADDRESS = 3,
    /* Below the floor. */
    WS_IMAGE_OLD = 4,
    /* Larger than the slot. */
    WS_IMAGE_LARGE = 5,
    WS_IMAGE_BAD_SIGNATURE = 6
};

typedef struct {
    uint32_t version;
    /* What is signed: header and program; and the signature behind it. */
    uint32_t length;
    uint32_t signature;
} ws_image;

/* Reads a header, whatever it holds.
 *
 * in: slot: the image is for; floor: the lowest version that is taken. out: image: good where 0 is returned.
 * Returns one of the reasons above, but for the signature's. */
uint8_t ws_image_header(const uint8_t fields[WS_IMAGE_FIELDS], uint8_t slot, uint32_t floor, ws_image *image);

/* Whether the image in a slot may run: header, version, and the signature over every byte of header and program.
 *
 * out: image. Returns as ws_image_header. */
uint8_t ws_image_verify(uint8_t slot, uint32_t floor, ws_image *image);

/* The same decision anew, for the moment before the jump, against faults: from what the last
 * ws_image_verify has computed, without its results.
 *
 * Returns 0 where the image of this slot was verified last, the root that it and its signature lead
 * to is the public key's, and its version is not below the floor; else any other number. What it
 * returns is added to the address that is jumped to, beside being compared with 0. */
uint32_t ws_image_difference(uint8_t slot, uint32_t floor);

#endif
