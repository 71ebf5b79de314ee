#include "ed25519.h"

#include "compiler.h"
#include "ed25519_points.h"
#include "ed25519_scalars.h"
#include "secret.h"
#include "sha512.h"

#define LIMBS WS_LIMBS(32)

/* Section 5.1.5 steps 1 to 3: the private scalar in the lower half, and what nonces are made of in the upper one. */
static void expand(ws_ed25519_wide *private, const uint8_t seed[32])
{
    ws_sha512(seed, 32, private->bytes);
    private->bytes[0] &= 248;
    private->bytes[31] = (uint8_t)((private->bytes[31] & 127) | 64);
}

/* The bytes of scalar B, for a scalar below L, which is destroyed. A frame of its own, so that its stack and those of the hashes
 * do not add up. */
static WS_NOINLINE void multiply_base(uint8_t bytes[32], ws_limb *scalar)
{
    ws_ed25519_sum sum;
    uint8_t column = WS_ED25519_COMB_DOUBLINGS;

    ws_ed25519_make_odd(scalar, &sum.a);
    ws_ed25519_begin(&sum);
    while (column != 0) {
        column--;
        ws_ed25519_double(&sum, 1);
        ws_ed25519_add_column(&sum, scalar, column, 0);
    }
    ws_ed25519_encode(&sum, bytes);
    ws_wipe(&sum, sizeof sum);
}

void ws_ed25519_keygen(const uint8_t seed[32], uint8_t public_key[32])
{
    ws_ed25519_wide scalar;
    uint8_t i;

    expand(&scalar, seed);
    for (i = 32; i < 64; i++) {
        scalar.bytes[i] = 0;
    }
    ws_ed25519_reduce(&scalar);
    multiply_base(public_key, scalar.limbs);
    ws_wipe(&scalar, sizeof scalar);
}

void ws_ed25519_sign(const uint8_t key[64], const uint8_t *message, size_t len, uint8_t signature[64])
{
    struct {
        ws_ed25519_wide private;
        ws_ed25519_wide number;
        ws_limb s[LIMBS];
    } work;
    uint8_t *const s = (uint8_t *)work.s;
    uint8_t i;

    /* Section 5.1.6: r, R, k, and S = r + k times the private scalar. */
    expand(&work.private, key);
    ws_ed25519_hash(&work.number, &work.private.bytes[32], 0, message, len);
    for (i = 0; i < LIMBS; i++) {
        work.s[i] = work.number.limbs[i];
    }
    multiply_base(signature, work.number.limbs);
    ws_ed25519_hash(&work.number, signature, key + 32, message, len);
    ws_modular_multiply(work.number.limbs, work.number.limbs, ws_ed25519_order.r_squared, &ws_ed25519_order);
    ws_modular_multiply(work.number.limbs, work.private.limbs, work.number.limbs, &ws_ed25519_order);
    ws_modular_add(work.s, work.s, work.number.limbs, &ws_ed25519_order);
    for (i = 0; i < 32; i++) {
        signature[32 + i] = s[i];
    }
    ws_wipe(&work, sizeof work);
}
