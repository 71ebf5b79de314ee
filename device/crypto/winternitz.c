#include "winternitz.h"

#include "compiler.h"

#define SCHEME ws_winternitz
#define WIDTH 4
#define PIECES WS_WINTERNITZ_PIECES
#define CHECKSUM 4
#define TYPE 3

static uint8_t digit(const uint8_t digits[34], uint8_t i)
{
    uint8_t byte = digits[i >> 1];

    return (i & 1) != 0 ? byte & 15 : byte >> 4;
}

#include "winternitz.inc"
