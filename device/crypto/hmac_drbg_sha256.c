#include "hmac_drbg.h"

#include "compiler.h"
#include "hmac.h"

#define DRBG ws_hmac_drbg_sha256
#define HMAC ws_hmac_sha256
#define DIGEST_BYTES 32
#include "drbg.inc"
