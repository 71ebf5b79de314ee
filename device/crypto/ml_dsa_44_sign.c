#include "ml_dsa.h"

#include "ml_dsa_44.inc"
#include "ml_dsa_sign.inc"
