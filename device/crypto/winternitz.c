#include "winternitz.h"

#include "secret.h"

/* RFC 8554 table 1: the type code. */
#define TYPE 3

/* Digits are of 4 bits: a chain has 15 steps. */
#define STEPS 15

/* Digit i of Q || checksum: coef of section 3.1.3 for w = 4. */
static uint8_t digit(const uint8_t digits[34], uint8_t i)
{
    uint8_t byte = digits[i >> 1];

    return (i & 1) != 0 ? byte & 15 : byte >> 4;
}

/* Algorithm 3 step 5: Q and Cksm(Q) of section 4.4, with ls = 4. */
static void digest(uint8_t digits[34], const uint8_t *name, const uint8_t *randomizer, const uint8_t *message,
                   size_t len)
{
    ws_sha256_ctx hash;
    uint16_t sum = 64 * STEPS;
    uint8_t i;

    ws_one_time_begin(&hash, name, WS_ONE_TIME_MESSAGE);
    ws_sha256_update(&hash, randomizer, WS_ONE_TIME_RANDOMIZER);
    ws_sha256_update(&hash, message, len);
    ws_sha256_final(&hash, digits);
    for (i = 0; i < 64; i++) {
        sum -= digit(digits, i);
    }
    sum <<= 4;
    digits[32] = (uint8_t)(sum >> 8);
    digits[33] = (uint8_t)sum;
}

static void copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}

void ws_winternitz_keygen(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                          uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY])
{
    struct {
        ws_sha256_ctx chain;
        ws_sha256_ctx key;
    } work;
    uint8_t i;
    uint8_t step;

    ws_one_time_begin(&work.key, name, WS_ONE_TIME_PUBLIC);
    for (i = 0; i < WS_WINTERNITZ_PIECES; i++) {
        ws_one_time_secret(&work.chain, name, i, seed);
        for (step = 0; step < STEPS; step++) {
            ws_one_time_step(&work.chain, step);
        }
        ws_sha256_update(&work.key, work.chain.block + WS_ONE_TIME_VALUE, 32);
    }
    public_key[0] = 0;
    public_key[1] = 0;
    public_key[2] = 0;
    public_key[3] = TYPE;
    copy(public_key + 4, name, WS_ONE_TIME_NAME);
    ws_sha256_final(&work.key, public_key + 24);
    ws_wipe(&work, sizeof work);
}

void ws_winternitz_sign_begin(ws_winternitz_signing *signing, const uint8_t seed[32],
                              const uint8_t name[WS_ONE_TIME_NAME], const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                              const uint8_t *message, size_t len)
{
    copy(signing->name, name, WS_ONE_TIME_NAME);
    copy(signing->seed, seed, 32);
    digest(signing->digits, name, randomizer, message, len);
    signing->piece = 0;
}

int ws_winternitz_sign_next(ws_winternitz_signing *signing, uint8_t piece[32])
{
    ws_sha256_ctx chain;
    uint8_t end;
    uint8_t step;

    if (signing->piece >= WS_WINTERNITZ_PIECES) {
        ws_wipe(piece, 32);
        return -1;
    }
    end = digit(signing->digits, signing->piece);
    ws_one_time_secret(&chain, signing->name, signing->piece, signing->seed);
    for (step = 0; step < end; step++) {
        ws_one_time_step(&chain, step);
    }
    copy(piece, chain.block + WS_ONE_TIME_VALUE, 32);
    ws_wipe(&chain, sizeof chain);
    signing->piece++;
    if (signing->piece == WS_WINTERNITZ_PIECES) {
        ws_wipe(signing, sizeof *signing);
        signing->piece = WS_WINTERNITZ_PIECES;
    }
    return 0;
}

int ws_winternitz_verify_begin(ws_winternitz_verification *verification,
                               const uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY],
                               const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len)
{
    copy(verification->name, public_key + 4, WS_ONE_TIME_NAME);
    digest(verification->digits, verification->name, randomizer, message, len);
    ws_one_time_begin(&verification->key, verification->name, WS_ONE_TIME_PUBLIC);
    verification->piece = 0;
    if ((public_key[0] | public_key[1] | public_key[2]) != 0 || public_key[3] != TYPE) {
        verification->piece = 0xff;
        return -1;
    }
    return 0;
}

void ws_winternitz_verify_next(ws_winternitz_verification *verification, const uint8_t piece[32])
{
    ws_sha256_ctx chain;
    uint8_t step;

    if (verification->piece >= WS_WINTERNITZ_PIECES) {
        verification->piece = 0xff;
        return;
    }
    ws_one_time_place(&chain, verification->name, verification->piece);
    copy(chain.block + WS_ONE_TIME_VALUE, piece, 32);
    for (step = digit(verification->digits, verification->piece); step < STEPS; step++) {
        ws_one_time_step(&chain, step);
    }
    ws_sha256_update(&verification->key, chain.block + WS_ONE_TIME_VALUE, 32);
    verification->piece++;
}

int ws_winternitz_candidate(ws_winternitz_verification *verification, uint8_t candidate[32])
{
    uint8_t pieces = verification->piece;

    ws_sha256_final(&verification->key, candidate);
    ws_wipe(verification, sizeof *verification);
    if (pieces != WS_WINTERNITZ_PIECES) {
        ws_wipe(candidate, 32);
        return -1;
    }
    return 0;
}

int ws_winternitz_verify_end(ws_winternitz_verification *verification,
                             const uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY])
{
    uint8_t candidate[32];

    if (ws_winternitz_candidate(verification, candidate) != 0) {
        return -1;
    }
    return ws_equal(candidate, public_key + 24, 32) ? 0 : -1;
}
