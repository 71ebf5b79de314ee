#include "ecdsa_secp160r1.h"

#include "compiler.h"
#include "decision.h"
#include "hmac_drbg.h"
#include "number.h"
#include "secp160r1.h"
#include "secp160r1_points.h"
#include "secret.h"
#include "sha1.h"

#define CURVE ws_secp160r1
#define ECDSA ws_ecdsa_secp160r1
#define BYTES 20
#define KEY_BYTES 21
#define ORDER_BYTES WS_SECP160R1_ORDER_BYTES
#define HASH ws_sha1
#define DIGEST_BYTES 20
#define NONCES ws_hmac_drbg_sha1
#define NONCE_BYTES 29
#define FIELD_IS_LARGER 0

/* FIPS 186-5 section A.3.1: never out of range. */
static uint8_t make_nonce(ws_limb *k, const uint8_t drawn[NONCE_BYTES])
{
    ws_number_scalar(k, drawn, NONCE_BYTES, &ws_secp160r1_order);
    return 1;
}

#include "ecdsa.inc"
