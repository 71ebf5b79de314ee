#include "hmac.h"

#include "compiler.h"
#include "secret.h"

#define HMAC ws_hmac_sha256
#define HASH ws_sha256
#define DIGEST_BYTES 32
#include "hmac.inc"
