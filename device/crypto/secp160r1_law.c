#include "secp160r1_law.h"

#include "compiler.h"
#include "number.h"
#include "secp160r1_points.h"

#define CURVE ws_secp160r1

#include "curve_law.inc"
