#include "p384_points.h"

#include "compiler.h"
#include "modular_wide.h"
#include "number.h"
#include "secret.h"

#define CURVE ws_p384
#define MODULAR ws_modular_wide
#define BYTES 48
#define ORDER_BYTES WS_P384_ORDER_BYTES
#define ORDER_BITS 384
#define WINDOW WS_P384_WINDOW
#define DIGITS ((ORDER_BITS + WINDOW - 1) / WINDOW)
#define COMB_COLUMNS 40
#define COMB_TABLES WS_P384_COMB_TABLES
#define COMB_EXCEPTION comb_exception
#define MONTGOMERY 1
#define ONE_BY_ONE WS_SMALL

/* n is 19 modulo 32: the last digit of n - 6, which is 13, is -3. In windows of 3 bits there is
 * none: the digit is k modulo 16 less 8, and n + 2 D has the digit D for D = 5 alone. */
#if WINDOW == 3
#define EQUAL_SUMMANDS 0
#elif WINDOW == 4
#define EQUAL_SUMMANDS 6
#else
#error EQUAL_SUMMANDS for this window: see multiply_point in curve.inc
#endif

WS_ALIGNED static const ws_limb n[WS_LIMBS(52)] = {
    WS_WORD(0xccc52973), WS_WORD(0xecec196a), WS_WORD(0x48b0a77a), WS_WORD(0x581a0db2),
    WS_WORD(0xf4372ddf), WS_WORD(0xc7634d81), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
    WS_WORD(0x00000000),
};

static const ws_limb n_r_squared[WS_LIMBS(52)] = {
    WS_WORD(0xf50ddb2d), WS_WORD(0xd8d34124), WS_WORD(0x74971bd0), WS_WORD(0xbfd3ccc9),
    WS_WORD(0x82118942), WS_WORD(0xbe807217), WS_WORD(0xde609f43), WS_WORD(0xbf030606),
    WS_WORD(0x4aab1cc5), WS_WORD(0xd40d4917), WS_WORD(0x28266895), WS_WORD(0x3fb05b7a),
    WS_WORD(0x00000000),
};

const ws_modulus ws_p384_order = {52, 384, n, n_r_squared, 0xe88fdc45};

/* n + 2 D with D = -2^320 - 2^240 + 2^160 + 2^80 - 1. */
static const ws_limb comb_exception[WS_LIMBS(52)] = {
    WS_WORD(0xccc52971), WS_WORD(0xecec196a), WS_WORD(0x48b2a77a), WS_WORD(0x581a0db2),
    WS_WORD(0xf4372ddf), WS_WORD(0xc7634d83), WS_WORD(0xffffffff), WS_WORD(0xfffdffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xfffffffd), WS_WORD(0xffffffff),
    WS_WORD(0x00000000),
};

#define ONE 0
#define COEFFICIENT 1
#define R_SQUARED 2
#define R_CUBED 3
#define CONSTANTS constants

/* 1 and b in Montgomery form, R^2 and R^3; R is 2^384. */
WS_CONSTANT("ws_p384_constants")
static const ws_word constants[4 * WS_WORDS(48)] = {
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xffffffff),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0x9d412dcc), WS_TABLE_WORD(0x08118871), WS_TABLE_WORD(0x7a4c32ec),
    WS_TABLE_WORD(0xf729add8), WS_TABLE_WORD(0x1920022e), WS_TABLE_WORD(0x77f2209b),
    WS_TABLE_WORD(0x94938ae2), WS_TABLE_WORD(0xe3374bee), WS_TABLE_WORD(0x1f022094),
    WS_TABLE_WORD(0xb62b21f4), WS_TABLE_WORD(0x604fbff9), WS_TABLE_WORD(0xcd08114b),

    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0xfffffffe), WS_TABLE_WORD(0x00000000),
    WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0xfffffffe),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0x00000001),
    WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0xfffffffc), WS_TABLE_WORD(0x00000002),
    WS_TABLE_WORD(0x00000003), WS_TABLE_WORD(0xfffffffe), WS_TABLE_WORD(0xfffffffc),
    WS_TABLE_WORD(0x00000005), WS_TABLE_WORD(0x00000003), WS_TABLE_WORD(0xfffffffd),
    WS_TABLE_WORD(0xfffffffd), WS_TABLE_WORD(0x00000002), WS_TABLE_WORD(0x00000003),
};

#include "curve.inc"
