#include "hmac_sha384.h"

#include "compiler.h"
#include "secret.h"

/* Of SHA-384 the context and what adds to it are SHA-512's. */
#define ws_sha384_ctx ws_sha512_ctx
#define ws_sha384_update ws_sha512_update
#define ws_sha384_blocks ws_sha512_blocks

#define HMAC ws_hmac_sha384
#define HASH ws_sha384
#define DIGEST_BYTES 48
#define BLOCK_BYTES 128
#define STATE_WORDS 16
#include "hmac.inc"
