#include "ml_kem.h"

#include "compiler.h"
#include "ml_kem_steps.h"
#include "secret.h"

#define SET ws_ml_kem_512
#define SIZES WS_ML_KEM_512
#define VECTOR 2
#include "ml_kem.inc"
