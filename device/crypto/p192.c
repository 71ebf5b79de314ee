#include "p192.h"

#define CURVE ws_p192
#define BYTES 24
#define ORDER_BYTES BYTES
#define KEY_BYTES BYTES
#define ORDER_BITS 192

#include "agreement.inc"

/* n is 17 modulo 32: the last digit of n - 2, which is 15, is -1. */
#define EQUAL_SUMMANDS 2

WS_ALIGNED static const ws_limb p[LIMBS] = {
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xfffffffe), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

static const ws_modulus prime = {BYTES, ORDER_BITS, p, 0, 0x00000001};

WS_ALIGNED static const ws_limb n[ORDER_LIMBS] = {
    WS_WORD(0xb4d22831), WS_WORD(0x146bc9b1), WS_WORD(0x99def836), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

/* For comparisons and differences alone (no R^2). */
static const ws_modulus order = {BYTES, ORDER_BITS, n, 0, 0x0ddbcf2f};

#define ONE 0
#define COEFFICIENT 1
#define R_SQUARED 2
#define R_CUBED 3
#define CONSTANTS constants

/* 1 and b in Montgomery form, R^2 and R^3; R is 2^192. */
WS_CONSTANT("ws_p192_constants")
static const ws_word constants[4 * WS_WORDS(BYTES)] = {
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0xa6e33a98), WS_TABLE_WORD(0x62d9e406), WS_TABLE_WORD(0x19076ae2), WS_TABLE_WORD(0x7281cdb2),
    WS_TABLE_WORD(0x57c0b131), WS_TABLE_WORD(0x73c8eec5),

    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000004), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000003), WS_TABLE_WORD(0x00000000),
};

#include "curve.inc"
#include "keys.inc"
