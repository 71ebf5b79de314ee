#include "p192_field.h"

#include "compiler.h"

WS_ALIGNED const ws_limb ws_p192_modulus[WS_LIMBS(24)] = {
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xfffffffe),
    WS_WORD(0xffffffff), WS_WORD(0xffffffff), WS_WORD(0xffffffff),
};
