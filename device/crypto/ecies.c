#include "ecies.h"

#include "compiler.h"
#include "ecies_steps.h"
#include "hmac.h"
#include "p256.h"
#include "secret.h"
#include "x963_kdf.h"

typedef struct {
    uint8_t encryption[16];
    uint8_t authentication[32];
} derived_keys;

/* A packet, but for its ephemeral key. */
typedef struct {
    const uint8_t *info;
    size_t info_len;
    const uint8_t *in;
    size_t len;
    uint8_t *out;
} content;

/* The code of len bytes of ciphertext || info. A frame of its own, gone while the other steps run. */
WS_NOINLINE static void authenticate(const uint8_t key[32], const uint8_t *ciphertext, const content *c, uint8_t mac[32])
{
    ws_hmac_sha256_ctx ctx;

    ws_hmac_sha256_init(&ctx, key, 32);
    ws_hmac_sha256_update(&ctx, ciphertext, c->len);
    ws_hmac_sha256_update(&ctx, c->info, c->info_len);
    ws_hmac_sha256_final(&ctx, mac);
}

WS_NOINLINE static void seal_with(const uint8_t shared[32], const uint8_t *ephemeral, uint8_t ephemeral_bytes,
                                  const content *c)
{
    derived_keys keys;
    uint8_t *first = keys.encryption;

    ws_x963_kdf(shared, 32, ephemeral, ephemeral_bytes, 0, 0, first, sizeof keys);
    ws_ecies_crypt(keys.encryption, c->in, c->out, c->len);
    authenticate(keys.authentication, c->out, c, c->out + c->len);
    ws_wipe(&keys, sizeof keys);
}

WS_NOINLINE static int open_with(const uint8_t shared[32], const uint8_t *ephemeral, uint8_t ephemeral_bytes,
                                 const content *c)
{
    struct {
        derived_keys keys;
        uint8_t mac[32];
    } work;
    uint8_t *first = work.keys.encryption;
    int refused = -1;

    ws_x963_kdf(shared, 32, ephemeral, ephemeral_bytes, 0, 0, first, sizeof work.keys);
    authenticate(work.keys.authentication, c->in, c, work.mac);
    if (ws_equal(work.mac, c->in + c->len, 32)) {
        ws_ecies_crypt(work.keys.encryption, c->in, c->out, c->len);
        refused = 0;
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

static int seal(ws_drbg *random, const uint8_t *recipient, uint8_t ephemeral_bytes, const content *c, uint8_t *packet)
{
    ws_ecies_work work;
    int refused = ws_ecies_offer(&work, random, recipient, ephemeral_bytes, packet);

    if (refused == 0) {
        seal_with(work.shared, packet, ephemeral_bytes, c);
    } else {
        ws_wipe(packet, ephemeral_bytes + c->len + 32);
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

/* ephemeral_key: the ephemeral key as x || y, read once packet is known to be as long. */
static int open(const uint8_t *private_key, const uint8_t *ephemeral_key, uint8_t ephemeral_bytes, content *c,
                const uint8_t *packet, size_t packet_len)
{
    uint8_t shared[32];
    int refused;

    if (packet_len < (size_t)ephemeral_bytes + 32) {
        return -1;
    }
    c->in = packet + ephemeral_bytes;
    c->len = packet_len - ephemeral_bytes - 32;
    refused = ws_p256_ecdh(private_key, ephemeral_key, shared);
    if (refused == 0) {
        refused = open_with(shared, packet, ephemeral_bytes, c);
    }
    ws_wipe(shared, sizeof shared);
    return refused;
}

int ws_ecies_seal(ws_drbg *random, const uint8_t recipient[64], const uint8_t *info, size_t info_len, const uint8_t *in,
                  size_t len, uint8_t *packet)
{
    content c = {info, info_len, in, len, packet + WS_ECIES_EPHEMERAL};

    return seal(random, recipient, WS_ECIES_EPHEMERAL, &c, packet);
}

int ws_ecies_seal_compressed(ws_drbg *random, const uint8_t recipient[64], const uint8_t *info, size_t info_len,
                             const uint8_t *in, size_t len, uint8_t *packet)
{
    content c = {info, info_len, in, len, packet + WS_ECIES_EPHEMERAL_COMPRESSED};

    return seal(random, recipient, WS_ECIES_EPHEMERAL_COMPRESSED, &c, packet);
}

int ws_ecies_open(const uint8_t private_key[32], const uint8_t *info, size_t info_len, const uint8_t *packet,
                  size_t packet_len, uint8_t *out)
{
    content c = {info, info_len, 0, 0, out};

    return open(private_key, packet, WS_ECIES_EPHEMERAL, &c, packet, packet_len);
}

int ws_ecies_open_compressed(const uint8_t private_key[32], const uint8_t *info, size_t info_len,
                             const uint8_t *packet, size_t packet_len, uint8_t *out)
{
    content c = {info, info_len, 0, 0, out};
    uint8_t ephemeral[64];

    if (packet_len < WS_ECIES_EPHEMERAL_COMPRESSED || ws_p256_decompress(packet, ephemeral) != 0) {
        return -1;
    }
    return open(private_key, ephemeral, WS_ECIES_EPHEMERAL_COMPRESSED, &c, packet, packet_len);
}
