#include "ml_dsa.h"

#include "ml_dsa_65.inc"
#include "ml_dsa_sign.inc"
