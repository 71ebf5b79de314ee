#include "ecdh_aes.h"

#include "aes.h"
#include "p256.h"
#include "secret.h"
#include "x963_kdf.h"

/* A frame of its own, which is not there yet while the point is multiplied. */
WS_NOINLINE static void encrypt_block(const uint8_t key[16], const uint8_t in[16], uint8_t out[16])
{
    union {
        uint8_t bytes[WS_AES128_ROUND_KEYS];
        uint32_t align;
    } round_keys;

    ws_aes128_expand(round_keys.bytes, key);
    ws_aes128_encrypt(round_keys.bytes, in, out);
    ws_wipe(&round_keys, sizeof round_keys);
}

static int encrypt(const uint8_t *private_key, const uint8_t *public_key, uint8_t derive, const uint8_t *in,
                   uint8_t *out)
{
    struct {
        uint8_t shared[32];
        uint8_t key[16];
    } work;

    if (ws_p256_ecdh(private_key, public_key, work.shared) != 0) {
        ws_wipe(out, 16);
        return -1;
    }
    if (derive) {
        ws_x963_kdf(work.shared, 32, 0, 0, 0, 0, work.key, 16);
    }
    encrypt_block(derive ? work.key : work.shared, in, out);
    ws_wipe(&work, sizeof work);
    return 0;
}

int ws_ecdh_aes128_encrypt(const uint8_t private_key[32], const uint8_t public_key[64], const uint8_t in[16],
                           uint8_t out[16])
{
    return encrypt(private_key, public_key, 1, in, out);
}

int ws_ecdh_aes128_encrypt_raw(const uint8_t private_key[32], const uint8_t public_key[64], const uint8_t in[16],
                               uint8_t out[16])
{
    return encrypt(private_key, public_key, 0, in, out);
}
