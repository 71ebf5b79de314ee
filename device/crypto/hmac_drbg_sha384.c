#include "hmac_drbg.h"

#include "compiler.h"
#include "hmac_sha384.h"

#define DRBG ws_hmac_drbg_sha384
#define HMAC ws_hmac_sha384
#define DIGEST_BYTES 48
#include "drbg.inc"
