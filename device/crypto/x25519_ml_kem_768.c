#include "x25519_ml_kem.h"

#include "x25519_ml_kem.inc"

#define SET ws_x25519_ml_kem_768
#define SIZES WS_X25519_ML_KEM_768
#define NAME "X25519 ML-KEM-768"
#define KEM ws_ml_kem_768
#define KEM_SIZES WS_ML_KEM_768
#include "hybrid.inc"
