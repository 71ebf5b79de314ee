#include "ml_kem.h"

#include "compiler.h"
#include "ml_kem_steps.h"
#include "secret.h"

#define SET ws_ml_kem_768
#define SIZES WS_ML_KEM_768
#define VECTOR 3
#include "ml_kem.inc"
