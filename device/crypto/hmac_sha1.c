#include "hmac_sha1.h"

#include "compiler.h"
#include "secret.h"

#define HMAC ws_hmac_sha1
#define HASH ws_sha1
#define DIGEST_BYTES 20
#include "hmac.inc"
