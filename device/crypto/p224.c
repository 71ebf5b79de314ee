#include "p224.h"

#include "p224_field.h"

#define CURVE ws_p224
#define BYTES 28
#define ORDER_BYTES BYTES
#define KEY_BYTES BYTES
#define ORDER_BITS 224
#define MONTGOMERY 1

#include "agreement.inc"

/* n is 29 modulo 32: the last digit of n - 26, which is 3, is -13. */
#define EQUAL_SUMMANDS 26

WS_ALIGNED static const ws_limb n[ORDER_LIMBS] = {
    WS_WORD(0x5c5c2a3d), WS_WORD(0x13dd2945), WS_WORD(0xe0b8f03e), WS_WORD(0xffff16a2),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

/* For comparisons and differences alone (no R^2). */
static const ws_modulus order = {BYTES, ORDER_BITS, n, 0, 0x6a1fc2eb};

#define ONE 0
#define COEFFICIENT 1
#define R_SQUARED 2
#define R_CUBED 3
#define CONSTANTS constants

/* 1 and b in Montgomery form, R^2 and R^3; R is 2^224. */
WS_CONSTANT("ws_p224_constants")
static const ws_word constants[4 * WS_WORDS(BYTES)] = {
    WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0xe768cdf7), WS_TABLE_WORD(0xccf01310), WS_TABLE_WORD(0x743b1cc0), WS_TABLE_WORD(0xc8528150),
    WS_TABLE_WORD(0x3dceba98), WS_TABLE_WORD(0x7fc02f93), WS_TABLE_WORD(0x9c3fa633),

    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0xfffffffe),
    WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0x00000001),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0xfffffffd),
};

#include "curve.inc"
#include "keys.inc"
