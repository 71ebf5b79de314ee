#include "sha256.h"

#include "compiler.h"
#include "secret.h"
#include "table.h"

/* FIPS 180-4 section 5.3.3. */
WS_CONSTANT("ws_sha256_initial")
static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

#define SHA ws_sha256
#define DIGEST_BYTES 32
#define BLOCK_BYTES 64
#include "sha.inc"
