#include "p256_ml_kem_512.h"

#include "p256.h"

#define SET ws_p256_ml_kem_512
#define SIZES WS_P256_ML_KEM_512
#define NAME "P-256 ML-KEM-512"
#define CURVE_KEYGEN ws_p256_keygen
#define CURVE_AGREE ws_p256_ecdh
#define CURVE_PUBLIC 64
#define KEM ws_ml_kem_512
#define KEM_SIZES WS_ML_KEM_512
#define KEM_FIRST 0
#include "hybrid.inc"
