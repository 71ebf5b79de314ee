#include "ml_dsa.h"

#include "ml_dsa_challenge.h"
#include "ml_dsa_polynomial.h"
#include "ml_dsa_sample.h"
#include "secret.h"

typedef struct {
    /* What a polynomial is sampled with; what the commitment is hashed with. */
    ws_sha3_ctx sampling;
    ws_sha3_ctx hash;
    ws_ml_dsa_challenge c;
    int32_t sum[256];
    union {
        int32_t z[256];
        int16_t t1[512];
    } factor;
} workspace;

/* Whether the hints are encoded as algorithm 20 does, algorithm 21: each row's in ascending order, and zeros behind them. */
static int are_hints_encoded(const uint8_t hints[WS_ML_DSA_OMEGA + WS_ML_DSA_K])
{
    uint8_t n = 0;
    uint8_t row;

    for (row = 0; row < WS_ML_DSA_K; row++) {
        const uint8_t first = n;
        const uint8_t end = hints[WS_ML_DSA_OMEGA + row];

        if (end < first || end > WS_ML_DSA_OMEGA) {
            return 0;
        }
        for (; n < end; n++) {
            if (n > first && hints[n - 1] >= hints[n]) {
                return 0;
            }
        }
    }
    for (; n < WS_ML_DSA_OMEGA; n++) {
        if (hints[n] != 0) {
            return 0;
        }
    }
    return 1;
}

/* Decodes a polynomial of z and transforms it. Returns 0, or -1 where it is too large. */
static int read_z(int32_t z[256], const uint8_t encoded[WS_ML_DSA_ENCODED_Z])
{
    uint16_t n;

    ws_ml_dsa_unpack(z, encoded, 256, 18);
    for (n = 0; n < 256; n++) {
        z[n] = WS_ML_DSA_GAMMA_1 - z[n];
        if (z[n] <= WS_ML_DSA_BETA - WS_ML_DSA_GAMMA_1 || z[n] >= WS_ML_DSA_GAMMA_1 - WS_ML_DSA_BETA) {
            return -1;
        }
    }
    ws_ml_dsa_ntt(z);
    return 0;
}

/* UseHint, algorithm 40, of a residue. */
static uint8_t use_hint(int32_t a, int hint)
{
    int32_t low;
    const uint8_t high = ws_ml_dsa_decompose(a, &low);

    if (!hint) {
        return high;
    }
    if (low > 0) {
        return high == 43 ? 0 : (uint8_t)(high + 1);
    }
    return high == 0 ? 43 : (uint8_t)(high - 1);
}

/* Hashes a row of the commitment: of the sum, less c t1 2^13. in: hint, end: the row's hints. */
static void hash_row(workspace *w, const uint8_t *hint, const uint8_t *end)
{
    int32_t some[16];
    uint8_t bytes[12];
    uint8_t i;
    uint16_t n;

    for (n = 0; n < 256; n += 16) {
        for (i = 0; i < 16; i++) {
            const uint8_t place = (uint8_t)(n + i);
            const int32_t product = ws_ml_dsa_challenge_product(&w->c, w->factor.t1, place);
            const int32_t a = ws_ml_dsa_residue(ws_ml_dsa_reduce(w->sum[place] - product * 8192));
            const int is_hinted = hint < end && *hint == place;

            some[i] = use_hint(a, is_hinted);
            hint += is_hinted;
        }
        ws_ml_dsa_pack(bytes, some, 16, 6);
        ws_sha3_absorb(&w->hash, bytes, 12);
    }
}

int ws_ml_dsa_44_verify_mu(const uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], const uint8_t mu[64],
                           const uint8_t signature[WS_ML_DSA_44_SIGNATURE])
{
    workspace w;
    const uint8_t *const hints = signature + WS_ML_DSA_HINTS;
    const uint8_t *t1 = public_key + 32;
    const uint8_t *hint = hints;
    uint8_t commitment[32];
    uint8_t row;
    uint8_t column;
    uint16_t n;

    if (!are_hints_encoded(hints)) {
        return -1;
    }
    ws_ml_dsa_make_challenge(&w.c, &w.sampling, signature);
    ws_sha3_init(&w.hash, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w.hash, mu, 64);
    for (row = 0; row < WS_ML_DSA_K; row++) {
        const uint8_t *const end = hints + hints[WS_ML_DSA_OMEGA + row];

        for (n = 0; n < 256; n++) {
            w.sum[n] = 0;
        }
        for (column = 0; column < WS_ML_DSA_L; column++) {
            if (read_z(w.factor.z, signature + WS_ML_DSA_Z + (uint16_t)column * WS_ML_DSA_ENCODED_Z) != 0) {
                return -1;
            }
            ws_ml_dsa_accumulate_sampled(&w.sampling, w.sum, w.factor.z, public_key, row, column);
        }
        ws_ml_dsa_inverse_ntt(w.sum);
        ws_ml_dsa_double(w.factor.t1, t1, 10, 0);
        t1 += WS_ML_DSA_ENCODED_T1;
        hash_row(&w, hint, end);
        hint = end;
    }
    ws_sha3_finish(&w.hash, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w.hash, commitment, 32);
    return ws_equal(commitment, signature, 32) - 1;
}

/* mu of a message. Its frame is gone before the workspace's is there. */
static WS_NOINLINE void represent(uint8_t mu[64], const uint8_t *public_key, const uint8_t *context, uint8_t context_len,
                                  const uint8_t *message, size_t len)
{
    uint8_t tr[64];

    ws_shake256(public_key, WS_ML_DSA_44_PUBLIC_KEY, tr, 64);
    ws_ml_dsa_represent(mu, tr, context, context_len, message, len);
}

int ws_ml_dsa_44_verify(const uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], const uint8_t *context, uint8_t context_len,
                        const uint8_t *message, size_t len, const uint8_t signature[WS_ML_DSA_44_SIGNATURE])
{
    uint8_t mu[64];

    represent(mu, public_key, context, context_len, message, len);
    return ws_ml_dsa_44_verify_mu(public_key, mu, signature);
}
