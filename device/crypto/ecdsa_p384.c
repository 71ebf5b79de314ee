#include "ecdsa_p384.h"

#include "compiler.h"
#include "decision.h"
#include "hmac_drbg.h"
#include "modular_wide.h"
#include "number.h"
#include "p384.h"
#include "p384_points.h"
#include "secret.h"
#include "sha384.h"

#define CURVE ws_p384
#define MODULAR ws_modular_wide
#define ECDSA ws_ecdsa_p384
#define BYTES 48
#define KEY_BYTES 48
#define ORDER_BYTES WS_P384_ORDER_BYTES
#define HASH ws_sha384
#define DIGEST_BYTES 48
#define NONCES ws_hmac_drbg_sha384
#define NONCE_BYTES 48
#define FIELD_IS_LARGER 1

static uint8_t in_range(const ws_limb *a);

/* RFC 6979 section 3.2 step h: as it was drawn, unless it is out of range. */
static uint8_t make_nonce(ws_limb *k, const uint8_t drawn[NONCE_BYTES])
{
    ws_number_read(k, WS_LIMBS(ORDER_BYTES), drawn, NONCE_BYTES);
    return in_range(k);
}

#include "ecdsa.inc"
