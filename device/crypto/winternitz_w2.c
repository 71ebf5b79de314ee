#include "winternitz_w2.h"

#include "compiler.h"

#define SCHEME ws_winternitz_w2
#define WIDTH 2
#define PIECES WS_WINTERNITZ_W2_PIECES
#define CHECKSUM 6
#define TYPE 2

static uint8_t digit(const uint8_t digits[34], uint8_t i)
{
    uint8_t byte = digits[i >> 2];

    if ((i & 2) == 0) {
        byte >>= 4;
    }
    if ((i & 1) == 0) {
        byte >>= 2;
    }
    return byte & 3;
}

#include "winternitz.inc"
