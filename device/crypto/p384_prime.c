#include "p384_field.h"

#include "compiler.h"

WS_ALIGNED const ws_limb ws_p384_modulus[WS_LIMBS(48)] = {
    WS_WORD(0xffffffff), WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0xffffffff),
    WS_WORD(0xfffffffe), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

const ws_modulus ws_p384_prime = {48, 384, ws_p384_modulus, 0, 0x00000001};
