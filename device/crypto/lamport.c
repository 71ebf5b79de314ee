#include "lamport.h"

#include "secret.h"

/* Places and kinds that RFC 8554 does not use. */
#define PLACE 0x4000
#define KEY 0x8484
#define MESSAGE 0x8585

/* The step from x to y. */
#define SHOWN 0

static void copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}

static void digest_message(uint8_t digest[32], const uint8_t *name, const uint8_t *randomizer, const uint8_t *message,
                           size_t len)
{
    ws_sha256_ctx hash;

    ws_one_time_begin(&hash, name, MESSAGE);
    ws_sha256_update(&hash, randomizer, WS_ONE_TIME_RANDOMIZER);
    ws_sha256_update(&hash, message, len);
    ws_sha256_final(&hash, digest);
}

/* Bit i of the digest, the highest of byte 0 first. */
static uint8_t bit(const uint8_t digest[32], uint8_t i)
{
    return (uint8_t)(digest[i >> 3] >> (7 - (i & 7))) & 1;
}

void ws_lamport_keygen(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                       uint8_t public_key[WS_LAMPORT_PUBLIC_KEY])
{
    struct {
        ws_sha256_ctx value;
        ws_sha256_ctx key;
    } work;
    uint16_t i;

    ws_one_time_begin(&work.key, name, KEY);
    for (i = 0; i < 512; i++) {
        ws_one_time_secret(&work.value, name, PLACE + i, seed);
        ws_one_time_step(&work.value, SHOWN);
        ws_sha256_update(&work.key, work.value.block + WS_ONE_TIME_VALUE, 32);
    }
    copy(public_key, name, WS_ONE_TIME_NAME);
    ws_sha256_final(&work.key, public_key + WS_ONE_TIME_NAME);
    ws_wipe(&work, sizeof work);
}

void ws_lamport_sign_begin(ws_lamport_signing *signing, const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                           const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len)
{
    copy(signing->name, name, WS_ONE_TIME_NAME);
    copy(signing->seed, seed, 32);
    digest_message(signing->digest, name, randomizer, message, len);
    signing->piece = 0;
}

int ws_lamport_sign_next(ws_lamport_signing *signing, uint8_t piece[32])
{
    ws_sha256_ctx value;
    uint8_t hidden;

    if (signing->piece >= WS_LAMPORT_PIECES) {
        ws_wipe(piece, 32);
        return -1;
    }
    /* x of the bit, then y of the other. */
    hidden = (uint8_t)signing->piece & 1;
    ws_one_time_secret(&value, signing->name,
                       PLACE + ((signing->piece & ~1u) | (bit(signing->digest, (uint8_t)(signing->piece >> 1)) ^ hidden)),
                       signing->seed);
    if (hidden) {
        ws_one_time_step(&value, SHOWN);
    }
    copy(piece, value.block + WS_ONE_TIME_VALUE, 32);
    ws_wipe(&value, sizeof value);
    signing->piece++;
    if (signing->piece == WS_LAMPORT_PIECES) {
        ws_wipe(signing, sizeof *signing);
        signing->piece = WS_LAMPORT_PIECES;
    }
    return 0;
}

void ws_lamport_verify_begin(ws_lamport_verification *verification, const uint8_t public_key[WS_LAMPORT_PUBLIC_KEY],
                             const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len)
{
    copy(verification->name, public_key, WS_ONE_TIME_NAME);
    digest_message(verification->digest, public_key, randomizer, message, len);
    ws_one_time_begin(&verification->key, public_key, KEY);
    verification->piece = 0;
}

void ws_lamport_verify_next(ws_lamport_verification *verification, const uint8_t piece[32])
{
    ws_sha256_ctx value;
    uint8_t i = (uint8_t)(verification->piece >> 1);
    uint8_t one;

    if (verification->piece >= WS_LAMPORT_PIECES) {
        verification->piece = WS_LAMPORT_PIECES + 1;
        return;
    }
    one = bit(verification->digest, i);
    if ((verification->piece & 1) == 0) {
        ws_one_time_place(&value, verification->name, PLACE + (verification->piece | one));
        copy(value.block + WS_ONE_TIME_VALUE, piece, 32);
        ws_one_time_step(&value, SHOWN);
        copy(verification->shown, value.block + WS_ONE_TIME_VALUE, 32);
    } else {
        if (one) {
            ws_sha256_update(&verification->key, piece, 32);
        }
        ws_sha256_update(&verification->key, verification->shown, 32);
        if (!one) {
            ws_sha256_update(&verification->key, piece, 32);
        }
    }
    verification->piece++;
}

int ws_lamport_candidate(ws_lamport_verification *verification, uint8_t candidate[32])
{
    uint16_t pieces = verification->piece;

    ws_sha256_final(&verification->key, candidate);
    ws_wipe(verification, sizeof *verification);
    if (pieces != WS_LAMPORT_PIECES) {
        ws_wipe(candidate, 32);
        return -1;
    }
    return 0;
}

int ws_lamport_verify_end(ws_lamport_verification *verification, const uint8_t public_key[WS_LAMPORT_PUBLIC_KEY])
{
    uint8_t candidate[32];

    if (ws_lamport_candidate(verification, candidate) != 0) {
        return -1;
    }
    return ws_equal(candidate, public_key + WS_ONE_TIME_NAME, 32) ? 0 : -1;
}
