#include "ecdsa_p256.h"

#include "compiler.h"
#include "decision.h"
#include "hmac_drbg.h"
#include "number.h"
#include "p256.h"
#include "p256_points.h"
#include "secret.h"
#include "sha256.h"

#define CURVE ws_p256
#define ECDSA ws_ecdsa_p256
#define BYTES 32
#define KEY_BYTES 32
#define ORDER_BYTES WS_P256_ORDER_BYTES
#define HASH ws_sha256
#define DIGEST_BYTES 32
#define NONCES ws_hmac_drbg_sha256
#define NONCE_BYTES 32
#define FIELD_IS_LARGER 1

static uint8_t in_range(const ws_limb *a);

/* RFC 6979 section 3.2 step h: as it was drawn, unless it is out of range. */
static uint8_t make_nonce(ws_limb *k, const uint8_t drawn[NONCE_BYTES])
{
    ws_number_read(k, WS_LIMBS(ORDER_BYTES), drawn, NONCE_BYTES);
    return in_range(k);
}

#include "ecdsa.inc"
