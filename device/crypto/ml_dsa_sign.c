#include "ml_dsa.h"

#include "ml_dsa_challenge.h"
#include "ml_dsa_polynomial.h"
#include "ml_dsa_sample.h"
#include "secret.h"

/* Where what a private key has lies in it, algorithm 24; s2 follows s1. Pointers go on and are not multiplied: what the MSP430's multiplier gives
 * after a secret product would count as secret for who follows it. */
#define K 32
#define TR 64
#define S1 128
#define T0 (S1 + (WS_ML_DSA_L + WS_ML_DSA_K) * WS_ML_DSA_ENCODED_S)

typedef struct {
    ws_sha3_ctx sponge;
    ws_ml_dsa_challenge c;
    /* rho' or rho'', what secrets are sampled of. */
    uint8_t seed[64];
    /* w, or t. */
    int32_t sums[WS_ML_DSA_K][256];
    union {
        int32_t polynomial[256];
        int16_t t0[512];
        uint8_t s[768];
    } factor;
} workspace;

static void clear_sums(workspace *w)
{
    uint16_t n;

    for (n = 0; n < 256; n++) {
        w->sums[0][n] = 0;
        w->sums[1][n] = 0;
        w->sums[2][n] = 0;
        w->sums[3][n] = 0;
    }
}

/* Decodes a polynomial, of numbers that were taken from `from`, and adds its product with a column of the matrix to the sums. */
static void multiply_column(workspace *w, const uint8_t *rho, uint8_t column, const uint8_t *encoded, uint8_t bits, int32_t from)
{
    int32_t *const polynomial = w->factor.polynomial;
    uint16_t n;
    uint8_t row;

    ws_ml_dsa_unpack(polynomial, encoded, 256, bits);
    for (n = 0; n < 256; n++) {
        polynomial[n] = from - polynomial[n];
    }
    ws_ml_dsa_ntt(polynomial);
    for (row = 0; row < WS_ML_DSA_K; row++) {
        ws_ml_dsa_accumulate_sampled(&w->sponge, w->sums[row], polynomial, rho, row, column);
    }
}

/* Writes a row of t, a sum and a polynomial of s2, Power2Round of algorithm 35: t1 into the public key and t0 into the private one. */
static void split_row(const int32_t sum[256], uint8_t *t1, uint8_t *t0, const uint8_t *s2)
{
    int32_t high[8];
    int32_t low[8];
    uint16_t n;
    uint8_t i;

    for (n = 0; n < 256; n += 8) {
        ws_ml_dsa_unpack(low, s2, 8, 3);
        for (i = 0; i < 8; i++) {
            const int32_t t = ws_ml_dsa_residue_of_sum(sum[n + i] + 2 - low[i]);

            high[i] = (t + 4095) >> 13;
            /* 2^12 - t0. */
            low[i] = 4096 - t + high[i] * 8192;
        }
        ws_ml_dsa_pack(t1, high, 8, 10);
        ws_ml_dsa_pack(t0, low, 8, 13);
        s2 += 3;
        t1 += 10;
        t0 += 13;
    }
    ws_wipe(low, sizeof low);
}

/* Algorithm 6 from step 3 on. in/out: w: the seed is rho'. in/out: private_key: begins with rho and K. */
static void make_keys(workspace *w, uint8_t *public_key, uint8_t *private_key)
{
    uint8_t *s = private_key + S1;
    uint8_t *t1 = public_key + 32;
    uint8_t *t0 = private_key + T0;
    uint8_t i;

    for (i = 0; i < WS_ML_DSA_L + WS_ML_DSA_K; i++) {
        ws_ml_dsa_make_secret(&w->sponge, s, w->factor.polynomial, w->seed, i);
        s += WS_ML_DSA_ENCODED_S;
    }
    clear_sums(w);
    s = private_key + S1;
    for (i = 0; i < WS_ML_DSA_L; i++) {
        multiply_column(w, private_key, i, s, 3, 2);
        s += WS_ML_DSA_ENCODED_S;
    }
    for (i = 0; i < 32; i++) {
        public_key[i] = private_key[i];
    }
    for (i = 0; i < WS_ML_DSA_K; i++) {
        ws_ml_dsa_inverse_ntt(w->sums[i]);
        split_row(w->sums[i], t1, t0, s);
        s += WS_ML_DSA_ENCODED_S;
        t1 += WS_ML_DSA_ENCODED_T1;
        t0 += WS_ML_DSA_ENCODED_T0;
    }
    ws_sha3_init(&w->sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w->sponge, public_key, WS_ML_DSA_44_PUBLIC_KEY);
    ws_sha3_finish(&w->sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w->sponge, private_key + TR, 64);
}

void ws_ml_dsa_44_keygen(const uint8_t xi[32], uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY],
                         uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY])
{
    workspace w;

    /* What follows xi: k and l. */
    w.seed[0] = WS_ML_DSA_K;
    w.seed[1] = WS_ML_DSA_L;
    ws_sha3_init(&w.sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w.sponge, xi, 32);
    ws_sha3_absorb(&w.sponge, w.seed, 2);
    ws_sha3_finish(&w.sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w.sponge, private_key, 32);
    ws_sha3_squeeze(&w.sponge, w.seed, 64);
    ws_sha3_squeeze(&w.sponge, private_key + K, 32);
    make_keys(&w, public_key, private_key);
    ws_wipe(&w, sizeof w);
}

void ws_ml_dsa_44_keygen_seeded(const uint8_t rho_prime[64], const uint8_t k[32], const uint8_t rho[32],
                                uint8_t public_key[WS_ML_DSA_44_PUBLIC_KEY], uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY])
{
    workspace w;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        private_key[i] = rho[i];
        private_key[K + i] = k[i];
        w.seed[i] = rho_prime[i];
        w.seed[32 + i] = rho_prime[32 + i];
    }
    make_keys(&w, public_key, private_key);
    ws_wipe(&w, sizeof w);
}

/* Algorithm 7 steps 11 to 16: makes y, w of it, and the commitment. in: number: kappa. out: signature: c~, and y where z will be. */
static void commit(workspace *w, const uint8_t *rho, const uint8_t mu[64], uint16_t number, uint8_t *signature)
{
    uint8_t *y = signature + WS_ML_DSA_Z;
    int32_t some[16];
    uint8_t bytes[12];
    uint8_t i;
    uint8_t row;
    uint16_t n;

    clear_sums(w);
    for (i = 0; i < WS_ML_DSA_L; i++) {
        ws_ml_dsa_make_mask(&w->sponge, y, w->seed, number + i);
        multiply_column(w, rho, i, y, 18, WS_ML_DSA_GAMMA_1);
        y += WS_ML_DSA_ENCODED_Z;
    }
    for (row = 0; row < WS_ML_DSA_K; row++) {
        ws_ml_dsa_inverse_ntt(w->sums[row]);
    }
    ws_sha3_init(&w->sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w->sponge, mu, 64);
    for (row = 0; row < WS_ML_DSA_K; row++) {
        for (n = 0; n < 256; n += 16) {
            for (i = 0; i < 16; i++) {
                int32_t *const a = &w->sums[row][n + i];
                int32_t low;

                *a = ws_ml_dsa_residue_of_sum(*a);
                some[i] = ws_ml_dsa_decompose(*a, &low);
            }
            ws_ml_dsa_pack(bytes, some, 16, 6);
            ws_sha3_absorb(&w->sponge, bytes, 12);
        }
    }
    ws_sha3_finish(&w->sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w->sponge, signature, 32);
    ws_wipe(some, sizeof some);
}

/* Makes z of y and s1, in place. Returns a negative number where z is too large. */
static int32_t respond(workspace *w, uint8_t *z, const uint8_t *s1)
{
    int32_t some[16];
    int32_t excess = 0;
    uint32_t products = 0;
    uint8_t i;
    uint16_t n;

    ws_ml_dsa_triple(w->factor.s, s1);
    for (n = 0; n < 256; n += 16) {
        ws_ml_dsa_unpack(some, z, 16, 18);
        for (i = 0; i < 16; i++) {
            if ((i & 3) == 0) {
                products = ws_ml_dsa_challenge_products(&w->c, w->factor.s, (uint8_t)(n + i));
            }
            /* Both are encoded as what they lack of gamma_1. */
            some[i] += WS_ML_DSA_BETA - (int32_t)(products & 0xff);
            products >>= 8;
            excess |= some[i] - (WS_ML_DSA_BETA + 1);
            excess |= 2 * (int32_t)WS_ML_DSA_GAMMA_1 - (WS_ML_DSA_BETA + 1) - some[i];
        }
        ws_ml_dsa_pack(z, some, 16, 18);
        z += 36;
    }
    ws_wipe(some, sizeof some);
    return excess;
}

/* Takes c s2 from a row of w. Returns a negative number where the low bits of what is left are too large. */
static int32_t take_error(workspace *w, int32_t sum[256], const uint8_t *s2)
{
    const int32_t largest = WS_ML_DSA_GAMMA_2 - WS_ML_DSA_BETA - 1;
    int32_t excess = 0;
    uint32_t products = 0;
    uint16_t n;

    ws_ml_dsa_triple(w->factor.s, s2);
    for (n = 0; n < 256; n++) {
        int32_t low;

        if ((n & 3) == 0) {
            products = ws_ml_dsa_challenge_products(&w->c, w->factor.s, (uint8_t)n);
        }
        sum[n] = ws_ml_dsa_residue_of_sum(sum[n] + WS_ML_DSA_BETA - (int32_t)(products & 0xff));
        products >>= 8;
        ws_ml_dsa_decompose(sum[n], &low);
        excess |= (largest - low) | (low + largest);
    }
    return excess;
}

/* Writes the hints of a row of w - c s2, MakeHint of algorithm 39, behind the count that there are. Returns how many there are then, or a
 * negative number where there are too many, or c t0 is too large. */
static int16_t make_hints(workspace *w, const int32_t sum[256], const uint8_t *t0, uint8_t *hints, int16_t count)
{
    const int32_t largest = WS_ML_DSA_GAMMA_2 - 1;
    int32_t excess = 0;
    uint16_t n;

    ws_ml_dsa_double(w->factor.t0, t0, 13, 4096);
    for (n = 0; n < 256; n++) {
        const int32_t product = ws_ml_dsa_challenge_product(&w->c, w->factor.t0, (uint8_t)n);
        int32_t low;
        const uint8_t high = ws_ml_dsa_decompose(sum[n], &low);

        excess |= (largest - product) | (product + largest);
        if (ws_ml_dsa_decompose(ws_ml_dsa_residue_of_sum(sum[n] + product), &low) != high) {
            if (count == WS_ML_DSA_OMEGA) {
                return -1;
            }
            hints[count++] = (uint8_t)n;
        }
    }
    if (excess < 0) {
        return -1;
    }
    return count;
}

/* Algorithm 7 steps 17 to 33, after commit. Returns 0, or -1 where signing has to begin anew. */
static int answer(workspace *w, const uint8_t *private_key, uint8_t *signature)
{
    uint8_t *const hints = signature + WS_ML_DSA_HINTS;
    uint8_t *z = signature + WS_ML_DSA_Z;
    const uint8_t *s = private_key + S1;
    const uint8_t *t0 = private_key + T0;
    int16_t count = 0;
    uint8_t i;

    ws_ml_dsa_make_challenge(&w->c, &w->sponge, signature);
    for (i = 0; i < WS_ML_DSA_L; i++) {
        if (respond(w, z, s) < 0) {
            return -1;
        }
        z += WS_ML_DSA_ENCODED_Z;
        s += WS_ML_DSA_ENCODED_S;
    }
    for (i = 0; i < WS_ML_DSA_K; i++) {
        if (take_error(w, w->sums[i], s) < 0) {
            return -1;
        }
        s += WS_ML_DSA_ENCODED_S;
    }
    for (i = 0; i < WS_ML_DSA_K; i++) {
        count = make_hints(w, w->sums[i], t0, hints, count);
        t0 += WS_ML_DSA_ENCODED_T0;
        if (count < 0) {
            return -1;
        }
        hints[WS_ML_DSA_OMEGA + i] = (uint8_t)count;
    }
    for (; count < WS_ML_DSA_OMEGA; count++) {
        hints[count] = 0;
    }
    return 0;
}

void ws_ml_dsa_44_sign_mu(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY], const uint8_t mu[64], const uint8_t rnd[32],
                          uint8_t signature[WS_ML_DSA_44_SIGNATURE])
{
    workspace w;
    uint16_t number = 0;

    ws_sha3_init(&w.sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w.sponge, private_key + K, 32);
    ws_sha3_absorb(&w.sponge, rnd, 32);
    ws_sha3_absorb(&w.sponge, mu, 64);
    ws_sha3_finish(&w.sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w.sponge, w.seed, 64);
    do {
        commit(&w, private_key, mu, number, signature);
        number += WS_ML_DSA_L;
    } while (answer(&w, private_key, signature) != 0);
    ws_wipe(&w, sizeof w);
}

void ws_ml_dsa_44_sign(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY], const uint8_t *context, uint8_t context_len,
                       const uint8_t *message, size_t len, const uint8_t rnd[32], uint8_t signature[WS_ML_DSA_44_SIGNATURE])
{
    uint8_t mu[64];

    ws_ml_dsa_represent(mu, private_key + TR, context, context_len, message, len);
    ws_ml_dsa_44_sign_mu(private_key, mu, rnd, signature);
}

int ws_ml_dsa_44_check(const uint8_t private_key[WS_ML_DSA_44_PRIVATE_KEY])
{
    int32_t some[8];
    int32_t excess = 0;
    uint16_t place;
    uint8_t i;

    for (place = S1; place < T0; place += 3) {
        ws_ml_dsa_unpack(some, private_key + place, 8, 3);
        for (i = 0; i < 8; i++) {
            excess |= 4 - some[i];
        }
    }
    ws_wipe(some, sizeof some);
    return excess < 0 ? -1 : 0;
}
