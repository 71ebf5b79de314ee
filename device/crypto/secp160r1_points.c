#include "secp160r1_points.h"

#include "compiler.h"
#include "number.h"
#include "secret.h"

#define CURVE ws_secp160r1
#define BYTES 20
#define ORDER_BYTES WS_SECP160R1_ORDER_BYTES
#define ORDER_BITS 161
#define WINDOW WS_SECP160R1_WINDOW
#define DIGITS ((ORDER_BITS + WINDOW - 1) / WINDOW)
#define COMB_COLUMNS 17
#define COMB_TABLES 2
#define ONE_BY_ONE 0
#define MONTGOMERY 0

#if WINDOW == 4
/* n is 23 modulo 32: the last digit of n - 14, which is 9, is -7. */
#define EQUAL_SUMMANDS 14
#else
#error EQUAL_SUMMANDS for this window: see multiply_point in curve.inc
#endif

WS_ALIGNED static const ws_limb p[WS_LIMBS(20)] = {
    WS_WORD(0x7fffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

const ws_modulus ws_secp160r1_prime = {20, 160, p, 0, 0x80000001};

WS_ALIGNED static const ws_limb n[WS_LIMBS(24)] = {
    WS_WORD(0xca752257), WS_WORD(0xf927aed3), WS_WORD(0x0001f4c8),
    WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0x00000001),
};

static const ws_limb n_r_squared[WS_LIMBS(24)] = {
    WS_WORD(0x6744f8a4), WS_WORD(0x085e335f), WS_WORD(0x3cdc3854),
    WS_WORD(0x7a981e4b), WS_WORD(0xa0e62683), WS_WORD(0x00000000),
};

const ws_modulus ws_secp160r1_order = {24, 161, n, n_r_squared, 0x306d1699};

#define ONE 0
#define COEFFICIENT 1
#define CONSTANTS constants

/* 1 and b. */
WS_CONSTANT("ws_secp160r1_constants")
static const ws_word constants[2 * WS_WORDS(20)] = {
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0xc565fa45), WS_TABLE_WORD(0x81d4d4ad), WS_TABLE_WORD(0x65acf89f), WS_TABLE_WORD(0x54bd7a8b),
    WS_TABLE_WORD(0x1c97befc),
};

#include "curve.inc"
