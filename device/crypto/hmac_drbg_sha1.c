#include "hmac_drbg.h"

#include "compiler.h"
#include "hmac_sha1.h"

#define DRBG ws_hmac_drbg_sha1
#define HMAC ws_hmac_sha1
#define DIGEST_BYTES 20
#include "drbg.inc"
