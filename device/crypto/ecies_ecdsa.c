#include "ecies_ecdsa.h"

#include "compiler.h"
#include "ecdsa_p256.h"
#include "ecies_steps.h"
#include "p256.h"
#include "secret.h"
#include "sha256.h"
#include "x963_kdf.h"

/* What is signed: the packet's len bytes before the signature, and info. */
WS_NOINLINE static void digest_packet(uint8_t digest[32], const uint8_t *packet, size_t len, const uint8_t *info,
                                      size_t info_len)
{
    ws_sha256_ctx ctx;

    ws_sha256_init(&ctx);
    ws_sha256_update(&ctx, packet, len);
    ws_sha256_update(&ctx, info, info_len);
    ws_sha256_final(&ctx, digest);
}

WS_NOINLINE static void crypt_with(const uint8_t shared[32], const uint8_t *ephemeral, uint8_t ephemeral_bytes,
                                   const uint8_t *info, size_t info_len, const uint8_t *in, uint8_t *out, size_t len)
{
    uint8_t key[16];

    ws_x963_kdf(shared, 32, ephemeral, ephemeral_bytes, info, info_len, key, 16);
    ws_ecies_crypt(key, in, out, len);
    ws_wipe(key, 16);
}

WS_NOINLINE static int encrypt(ws_drbg *random, const uint8_t *recipient, uint8_t ephemeral_bytes, const uint8_t *info,
                               size_t info_len, const uint8_t *in, size_t len, uint8_t *packet)
{
    ws_ecies_work work;
    int refused = ws_ecies_offer(&work, random, recipient, ephemeral_bytes, packet);

    if (refused == 0) {
        crypt_with(work.shared, packet, ephemeral_bytes, info, info_len, in, packet + ephemeral_bytes, len);
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

WS_NOINLINE static int decrypt(const uint8_t *private_key, const uint8_t *ephemeral_key, uint8_t ephemeral_bytes,
                               const uint8_t *info, size_t info_len, const uint8_t *packet, size_t len, uint8_t *out)
{
    uint8_t shared[32];
    int refused = ws_p256_ecdh(private_key, ephemeral_key, shared);

    if (refused == 0) {
        crypt_with(shared, packet, ephemeral_bytes, info, info_len, packet + ephemeral_bytes, out, len);
    }
    ws_wipe(shared, sizeof shared);
    return refused;
}

WS_NOINLINE static int sign(const uint8_t *sender_private, const uint8_t *info, size_t info_len, uint8_t *packet,
                            size_t len)
{
    uint8_t digest[32];

    digest_packet(digest, packet, len, info, info_len);
    return ws_ecdsa_p256_sign_digest(sender_private, digest, 0, 0, packet + len);
}

WS_NOINLINE static int verify(const uint8_t *sender_public, const uint8_t *info, size_t info_len,
                              const uint8_t *packet, size_t len)
{
    uint8_t digest[32];

    digest_packet(digest, packet, len, info, info_len);
    return ws_ecdsa_p256_verify_digest(sender_public, digest, packet + len);
}

static int seal(ws_drbg *random, const uint8_t *recipient, const uint8_t *sender_private, uint8_t ephemeral_bytes,
                const uint8_t *info, size_t info_len, const uint8_t *in, size_t len, uint8_t *packet)
{
    size_t signed_len = ephemeral_bytes + len;

    if (encrypt(random, recipient, ephemeral_bytes, info, info_len, in, len, packet) != 0 ||
        sign(sender_private, info, info_len, packet, signed_len) != 0) {
        ws_wipe(packet, signed_len + 64);
        return -1;
    }
    return 0;
}

/* ephemeral_key: the ephemeral key as x || y, read once packet is known to be as long. */
static int open(const uint8_t *private_key, const uint8_t *sender_public, const uint8_t *ephemeral_key,
                uint8_t ephemeral_bytes, const uint8_t *info, size_t info_len, const uint8_t *packet, size_t packet_len,
                uint8_t *out)
{
    size_t signed_len = packet_len - 64;

    if (packet_len < (size_t)ephemeral_bytes + 64 ||
        verify(sender_public, info, info_len, packet, signed_len) != 0) {
        return -1;
    }
    return decrypt(private_key, ephemeral_key, ephemeral_bytes, info, info_len, packet, signed_len - ephemeral_bytes, out);
}

int ws_ecies_ecdsa_seal(ws_drbg *random, const uint8_t recipient[64], const uint8_t sender_private[32],
                        const uint8_t *info, size_t info_len, const uint8_t *in, size_t len, uint8_t *packet)
{
    return seal(random, recipient, sender_private, WS_ECIES_EPHEMERAL, info, info_len, in, len, packet);
}

int ws_ecies_ecdsa_seal_compressed(ws_drbg *random, const uint8_t recipient[64], const uint8_t sender_private[32],
                                   const uint8_t *info, size_t info_len, const uint8_t *in, size_t len,
                                   uint8_t *packet)
{
    return seal(random, recipient, sender_private, WS_ECIES_EPHEMERAL_COMPRESSED, info, info_len, in, len, packet);
}

int ws_ecies_ecdsa_open(const uint8_t private_key[32], const uint8_t sender_public[64], const uint8_t *info,
                        size_t info_len, const uint8_t *packet, size_t packet_len, uint8_t *out)
{
    return open(private_key, sender_public, packet, WS_ECIES_EPHEMERAL, info, info_len, packet, packet_len, out);
}

int ws_ecies_ecdsa_open_compressed(const uint8_t private_key[32], const uint8_t sender_public[64],
                                   const uint8_t *info, size_t info_len, const uint8_t *packet, size_t packet_len,
                                   uint8_t *out)
{
    uint8_t ephemeral[64];

    if (packet_len < WS_ECIES_EPHEMERAL_COMPRESSED || ws_p256_decompress(packet, ephemeral) != 0) {
        return -1;
    }
    return open(private_key, sender_public, ephemeral, WS_ECIES_EPHEMERAL_COMPRESSED, info, info_len, packet,
                packet_len, out);
}
