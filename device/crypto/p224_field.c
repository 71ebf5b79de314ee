#include "p224_field.h"

#include "compiler.h"

WS_ALIGNED const ws_limb ws_p224_modulus[WS_LIMBS(28)] = {
    WS_WORD(0x00000001), WS_WORD(0x00000000), WS_WORD(0x00000000), WS_WORD(0xffffffff),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};

const ws_modulus ws_p224_prime = {28, 224, ws_p224_modulus, 0, 0xffffffff};
