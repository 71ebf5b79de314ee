#include "p256_law.h"

#include "compiler.h"
#include "number.h"
#include "p256_points.h"

#define CURVE ws_p256

#include "curve_law.inc"
