#include "p192.h"

#include "modular.h"
#include "p192_field.h"

#define CURVE ws_p192
#define BYTES 24
#define ORDER_BYTES BYTES
#define KEY_BYTES BYTES
#define ORDER_BITS 192
#define MONTGOMERY 0

static const ws_modulus ws_p192_prime = {BYTES, ORDER_BITS, ws_p192_modulus, 0, 0x00000001};

#include "agreement.inc"

/* n is 17 modulo 32: the last digit of n - 2, which is 15, is -1. */
#define EQUAL_SUMMANDS 2

WS_ALIGNED static const ws_limb n[ORDER_LIMBS] = {
    WS_WORD(0xb4d22831), WS_WORD(0x146bc9b1), WS_WORD(0x99def836), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

/* For comparisons and differences alone (no R^2). */
static const ws_modulus order = {BYTES, ORDER_BITS, n, 0, 0x0ddbcf2f};

#define ONE 0
#define COEFFICIENT 1
#define CONSTANTS constants

/* 1 and b. */
WS_CONSTANT("ws_p192_constants")
static const ws_word constants[2 * WS_WORDS(BYTES)] = {
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0xc146b9b1), WS_TABLE_WORD(0xfeb8deec), WS_TABLE_WORD(0x72243049), WS_TABLE_WORD(0x0fa7e9ab),
    WS_TABLE_WORD(0xe59c80e7), WS_TABLE_WORD(0x64210519),
};

#include "curve.inc"
#include "keys.inc"
