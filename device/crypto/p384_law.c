#include "p384_law.h"

#include "compiler.h"

#define CURVE ws_p384
#define HALVE(r) ws_p384_halve(r)

#include "curve_law.inc"
