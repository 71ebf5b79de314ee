#include "sha512.h"

#include "compiler.h"
#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 5.3.5. */
WS_CONSTANT("ws_sha512_initial")
static const uint32_t initial[16] = {
    0x6a09e667, 0xf3bcc908, 0xbb67ae85, 0x84caa73b, 0x3c6ef372, 0xfe94f82b, 0xa54ff53a, 0x5f1d36f1,
    0x510e527f, 0xade682d1, 0x9b05688c, 0x2b3e6c1f, 0x1f83d9ab, 0xfb41bd6b, 0x5be0cd19, 0x137e2179,
};

#define SHA ws_sha512
#define DIGEST_BYTES 64
#define BLOCK_BYTES 128
#include "sha.inc"
