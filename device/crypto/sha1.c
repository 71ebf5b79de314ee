#include "sha1.h"

#include "compiler.h"
#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 5.3.1. */
WS_CONSTANT("ws_sha1_initial")
static const uint32_t initial[5] = {
    0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
    0xc3d2e1f0,
};

#define SHA ws_sha1
#define DIGEST_BYTES 20
#define BLOCK_BYTES 64
#include "sha.inc"
