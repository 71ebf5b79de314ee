#include "p256_ml_kem_512.h"

#include "compiler.h"
#include "hkdf.h"
#include "p256.h"
#include "secret.h"
#include "sha256.h"

/* In the initiator's private key: the public key of P-256, ML-KEM's key, and the encapsulation key in that (FIPS 203 algorithm 16: behind
 * two polynomials of 384 bytes). */
#define POINT 32
#define KEM 96
#define ENCAPSULATION_KEY (KEM + 768)

/* What is said in the open: info, both parts of an offer, a response. */
typedef struct {
    const uint8_t *info;
    size_t info_len;
    const uint8_t *point;
    const uint8_t *encapsulation_key;
    const uint8_t *response;
} transcript;

/* secrets: Z || T. A frame of its own, which is there after those of the agreements. */
static WS_NOINLINE void derive(const uint8_t *salt, size_t salt_len, const uint8_t secrets[64], const transcript *said,
                               uint8_t key[32])
{
    static const char name[16] = {'P', '-', '2', '5', '6', ' ', 'M', 'L', '-', 'K', 'E', 'M', '-', '5', '1', '2'};
    uint8_t fixed_info[48];
    ws_sha256_ctx hash;
    uint8_t i;

    for (i = 0; i < sizeof name; i++) {
        fixed_info[i] = (uint8_t)name[i];
    }
    ws_sha256_init(&hash);
    ws_sha256_update(&hash, said->info, said->info_len);
    ws_sha256_update(&hash, said->point, 64);
    ws_sha256_update(&hash, said->encapsulation_key, WS_ML_KEM_512_PUBLIC_KEY);
    ws_sha256_update(&hash, said->response, WS_P256_ML_KEM_512_RESPONSE);
    ws_sha256_final(&hash, fixed_info + sizeof name);
    ws_hkdf_sha256(salt, salt_len, secrets, 64, fixed_info, sizeof fixed_info, key, 32);
}

int ws_p256_ml_kem_512_keygen(ws_drbg *random, uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY])
{
    uint8_t seeds[64];
    int refused = ws_p256_keygen(random, private_key, private_key + POINT);

    if (refused == 0) {
        refused = ws_drbg_generate(random, seeds, sizeof seeds, 0, 0);
    }
    if (refused == 0) {
        ws_ml_kem_512_keygen(seeds, seeds + 32, private_key + ENCAPSULATION_KEY, private_key + KEM);
        ws_wipe(seeds, sizeof seeds);
    } else {
        ws_wipe(private_key, WS_P256_ML_KEM_512_PRIVATE_KEY);
    }
    return refused;
}

void ws_p256_ml_kem_512_offer(const uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY],
                              uint8_t offer[WS_P256_ML_KEM_512_OFFER])
{
    uint16_t i;

    for (i = 0; i < 64; i++) {
        offer[i] = private_key[POINT + i];
    }
    for (i = 0; i < WS_ML_KEM_512_PUBLIC_KEY; i++) {
        offer[64 + i] = private_key[ENCAPSULATION_KEY + i];
    }
}

int ws_p256_ml_kem_512_respond(ws_drbg *random, const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len,
                               const uint8_t offer[WS_P256_ML_KEM_512_OFFER],
                               uint8_t response[WS_P256_ML_KEM_512_RESPONSE], uint8_t key[32])
{
    const transcript said = {info, info_len, offer, offer + 64, response};
    struct {
        /* Z || T. */
        uint8_t secrets[64];
        /* The private key of P-256, then m. */
        uint8_t once[32];
    } work;
    int refused = ws_p256_keygen(random, work.once, response);

    if (refused == 0) {
        refused = ws_p256_ecdh(work.once, offer, work.secrets);
    }
    if (refused == 0) {
        refused = ws_drbg_generate(random, work.once, sizeof work.once, 0, 0);
    }
    if (refused == 0) {
        refused = ws_ml_kem_512_encapsulate(offer + 64, work.once, response + 64, work.secrets + 32);
    }
    if (refused == 0) {
        derive(salt, salt_len, work.secrets, &said, key);
    } else {
        ws_wipe(response, WS_P256_ML_KEM_512_RESPONSE);
        ws_wipe(key, 32);
    }
    ws_wipe(&work, sizeof work);
    return refused;
}

int ws_p256_ml_kem_512_agree(const uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY], const uint8_t *salt, size_t salt_len,
                             const uint8_t *info, size_t info_len, const uint8_t response[WS_P256_ML_KEM_512_RESPONSE],
                             uint8_t key[32])
{
    const transcript said = {info, info_len, private_key + POINT, private_key + ENCAPSULATION_KEY, response};
    uint8_t secrets[64];
    int refused = ws_p256_ecdh(private_key, response, secrets);

    if (refused == 0) {
        ws_ml_kem_512_decapsulate(private_key + KEM, response + 64, secrets + 32);
        derive(salt, salt_len, secrets, &said, key);
        ws_wipe(secrets, sizeof secrets);
    } else {
        ws_wipe(key, 32);
    }
    return refused;
}
