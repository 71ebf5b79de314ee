#include "p256_points.h"

#include "compiler.h"
#include "number.h"
#include "secret.h"

#define CURVE ws_p256
#define BYTES 32
#define ORDER_BYTES WS_P256_ORDER_BYTES
#define ORDER_BITS 256
#define WINDOW WS_P256_WINDOW
#define DIGITS ((ORDER_BITS + WINDOW - 1) / WINDOW)
#define COMB_COLUMNS 26
#define COMB_TABLES WS_P256_COMB_TABLES
#define MONTGOMERY 1
#define ONE_BY_ONE WS_SMALL

/* n + 2 D has the last digit D for D = -1 in windows of 4 bits, and for no digit in those of 3: the digit is k modulo 2^(WINDOW + 1)
 * less 2^WINDOW, and n is 17 modulo 32. */
#if WINDOW == 3
#define EQUAL_SUMMANDS 0
#elif WINDOW == 4
#define EQUAL_SUMMANDS 2
#else
#error EQUAL_SUMMANDS for this window: see multiply_point in curve.inc
#endif

WS_ALIGNED static const ws_limb p[WS_LIMBS(32)] = {
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0x00000000),
    WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0x00000001), WS_WORD(0xffffffff),
};

const ws_modulus ws_p256_prime = {32, 256, p, 0, 0x00000001};

WS_ALIGNED static const ws_limb n[WS_LIMBS(32)] = {
    WS_WORD(0xfc632551), WS_WORD(0xf3b9cac2), WS_WORD(0xa7179e84), WS_WORD(0xbce6faad),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0x00000000), WS_WORD(0xffffffff),
};

static const ws_limb n_r_squared[WS_LIMBS(32)] = {
    WS_WORD(0xbe79eea2), WS_WORD(0x83244c95), WS_WORD(0x49bd6fa6), WS_WORD(0x4699799c),
    WS_WORD(0x2b6bec59), WS_WORD(0x2845b239), WS_WORD(0xf3d95620), WS_WORD(0x66e12d94),
};

const ws_modulus ws_p256_order = {32, 256, n, n_r_squared, 0xee00bc4f};

#define ONE 0
#define COEFFICIENT 1
#define R_SQUARED 2
#define R_CUBED 3
#define CONSTANTS constants

/* 1 and b in Montgomery form, R^2 and R^3; R is 2^256. */
WS_CONSTANT("ws_p256_constants")
static const ws_word constants[4 * WS_WORDS(32)] = {
    WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0xffffffff),
    WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xfffffffe), WS_TABLE_WORD(0x00000000),

    WS_TABLE_WORD(0x29c4bddf), WS_TABLE_WORD(0xd89cdf62), WS_TABLE_WORD(0x78843090), WS_TABLE_WORD(0xacf005cd),
    WS_TABLE_WORD(0xf7212ed6), WS_TABLE_WORD(0xe5a220ab), WS_TABLE_WORD(0x04874834), WS_TABLE_WORD(0xdc30061d),

    WS_TABLE_WORD(0x00000003), WS_TABLE_WORD(0x00000000), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xfffffffb),
    WS_TABLE_WORD(0xfffffffe), WS_TABLE_WORD(0xffffffff), WS_TABLE_WORD(0xfffffffd), WS_TABLE_WORD(0x00000004),

    WS_TABLE_WORD(0x0000000a), WS_TABLE_WORD(0xfffffffd), WS_TABLE_WORD(0xfffffff7), WS_TABLE_WORD(0xffffffed),
    WS_TABLE_WORD(0xfffffffc), WS_TABLE_WORD(0x00000005), WS_TABLE_WORD(0x00000001), WS_TABLE_WORD(0x00000018),
};

#include "curve.inc"
