#include "ml_kem_steps.h"

#include "little_endian.h"
#include "ml_kem_polynomial.h"
#include "secret.h"

/* Bytes of an encoded polynomial: of 12, 10 and 4 bits a coefficient. */
#define ENCODED 384
#define COMPRESSED_U 320
#define COMPRESSED_V 128

/* Bytes of an encoded vector, and of a ciphertext. Chosen and not multiplied: what the MSP430's multiplier gives after a secret product
 * would count as secret for who follows it. */
static uint16_t encoded_bytes(const ws_ml_kem_workspace *w)
{
    return w->k == 2 ? 2 * ENCODED : 3 * ENCODED;
}

static uint16_t ciphertext_bytes(const ws_ml_kem_workspace *w)
{
    return w->k == 2 ? 2 * COMPRESSED_U + COMPRESSED_V : 3 * COMPRESSED_U + COMPRESSED_V;
}

/* eta_1 of table 2. */
static uint8_t eta_1(const ws_ml_kem_workspace *w)
{
    return w->k == 2 ? 3 : 2;
}

/* Copies len bytes, a multiple of 4. */
static void copy(uint8_t *to, const uint8_t *from, uint16_t len)
{
    for (; len != 0; len -= 4) {
        ws_store32_le(to, ws_load32_le(from));
        to += 4;
        from += 4;
    }
}

/* Begins PRF_eta, or what makes the matrix: SHAKE of a seed and one or two bytes. */
static void begin(ws_ml_kem_workspace *w, uint8_t rate, const uint8_t *seed, uint8_t first, uint8_t second, uint8_t count)
{
    w->bytes[0] = first;
    w->bytes[1] = second;
    ws_sha3_init(&w->sponge, rate);
    ws_sha3_absorb(&w->sponge, seed, 32);
    ws_sha3_absorb(&w->sponge, w->bytes, count);
    ws_sha3_finish(&w->sponge, WS_SHAKE_SUFFIX);
}

/* Adds a polynomial of noise, number n of a seed. */
static void add_noise(ws_ml_kem_workspace *w, int16_t polynomial[256], const uint8_t *seed, uint8_t n, uint8_t eta)
{
    uint8_t i;

    begin(w, WS_SHAKE256_RATE, seed, n, 0, 1);
    for (i = 0; i < 8; i++) {
        ws_sha3_squeeze(&w->sponge, w->bytes, 8 * eta);
        ws_ml_kem_add_noise(polynomial, w->bytes, eta);
        polynomial += 32;
    }
}

static void clear(int16_t polynomial[256])
{
    uint16_t i;

    for (i = 0; i < 256; i++) {
        polynomial[i] = 0;
    }
}

/* A vector of noise, transformed. */
static void make_vector(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *seed)
{
    uint8_t i;

    for (i = 0; i < w->k; i++) {
        clear(vector[i]);
        add_noise(w, vector[i], seed, i, eta_1(w));
        ws_ml_kem_ntt(vector[i]);
    }
}

/* Adds polynomial times a polynomial of the matrix to the sum. SampleNTT, algorithm 7, of rho, first and second: its coefficients are
 * multiplied as they come. */
static void accumulate_sampled(ws_ml_kem_workspace *w, const int16_t polynomial[256], const uint8_t *rho, uint8_t first, uint8_t second)
{
    uint8_t place = 0;
    uint8_t kept = 0;
    uint8_t i;

    begin(w, WS_SHAKE128_RATE, rho, first, second, 2);
    while (place < 64) {
        int16_t *const some = w->some;
        uint8_t fours;

        ws_sha3_squeeze(&w->sponge, w->bytes, 24);
        kept += ws_ml_kem_sample(some + kept, w->bytes);
        fours = kept >> 2;
        if (fours > 64 - place) {
            fours = 64 - place;
        }
        ws_ml_kem_accumulate(w->sum + 4 * place, some, polynomial + 4 * place, place, fours);
        place += fours;
        kept &= 3;
        for (i = 0; i < kept; i++) {
            some[i] = some[4 * fours + i];
        }
    }
}

/* Adds polynomial times an encoded one to the sum. */
static void accumulate_encoded(ws_ml_kem_workspace *w, const int16_t polynomial[256], const uint8_t encoded[ENCODED])
{
    uint8_t place;

    for (place = 0; place < 64; place += 4) {
        ws_ml_kem_decode(w->some, encoded);
        ws_ml_kem_accumulate(w->sum + 4 * place, w->some, polynomial + 4 * place, place, 4);
        encoded += 24;
    }
}

/* G, section 4.1: SHA3-512 of two pieces, to the seeds. */
static void make_seeds(ws_ml_kem_workspace *w, const uint8_t *first, const uint8_t *second, uint8_t count)
{
    ws_sha3_init(&w->sponge, WS_SHA3_512_RATE);
    ws_sha3_absorb(&w->sponge, first, 32);
    ws_sha3_absorb(&w->sponge, second, count);
    ws_sha3_finish(&w->sponge, WS_SHA3_SUFFIX);
    ws_sha3_squeeze(&w->sponge, w->seeds, 64);
}

/* H of a public key, section 4.1. */
static void hash_key(ws_ml_kem_workspace *w, const uint8_t *public_key, uint8_t hash[32])
{
    ws_sha3_init(&w->sponge, WS_SHA3_256_RATE);
    ws_sha3_absorb(&w->sponge, public_key, encoded_bytes(w) + 32);
    ws_sha3_finish(&w->sponge, WS_SHA3_SUFFIX);
    ws_sha3_squeeze(&w->sponge, hash, 32);
}

void ws_ml_kem_seed(ws_ml_kem_workspace *w, const uint8_t d[32])
{
    make_seeds(w, d, &w->k, 1);
}

void ws_ml_kem_keygen(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t z[32], uint8_t *public_key, uint8_t *private_key)
{
    const uint16_t encoded = encoded_bytes(w);
    uint8_t *t = public_key;
    const uint8_t *const rho = w->seeds;
    const uint8_t *const sigma = w->seeds + 32;
    uint16_t n;
    uint8_t i;
    uint8_t j;

    make_vector(w, vector, sigma);
    for (i = 0; i < w->k; i++) {
        ws_ml_kem_encode(private_key, vector[i]);
        private_key += ENCODED;
        /* e, divided by 2^16 as the products are that are added: times 169, which is 1/2^16 modulo q. */
        clear(w->sum);
        add_noise(w, w->sum, sigma, w->k + i, eta_1(w));
        for (n = 0; n < 256; n++) {
            w->sum[n] *= 169;
        }
        ws_ml_kem_ntt(w->sum);
        for (j = 0; j < w->k; j++) {
            accumulate_sampled(w, vector[j], rho, j, i);
        }
        ws_ml_kem_encode_product(t, w->sum);
        t += ENCODED;
    }
    copy(t, rho, 32);
    copy(private_key, public_key, encoded + 32);
    private_key += encoded + 32;
    hash_key(w, public_key, private_key);
    copy(private_key + 32, z, 32);
}

/* K-PKE.Encrypt, algorithm 14, of the message with the seed r in seeds: writes the ciphertext, or where `expected` is not 0 compares
 * it with that. Returns 0 where all is equal, or nothing was compared. */
static uint8_t encrypt(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *public_key, uint8_t *ciphertext,
                       const uint8_t *expected)
{
    const uint8_t *const rho = public_key + encoded_bytes(w);
    const uint8_t *const r = w->seeds + 32;
    const uint8_t *t = public_key;
    uint8_t difference = 0;
    uint8_t i;
    uint8_t j;
    uint8_t n;

    make_vector(w, vector, r);
    for (i = 0; i <= w->k; i++) {
        /* u, and at last v. */
        const uint8_t size = i < w->k ? COMPRESSED_U / 16 : COMPRESSED_V / 16;

        clear(w->sum);
        for (j = 0; j < w->k; j++) {
            if (i < w->k) {
                accumulate_sampled(w, vector[j], rho, i, j);
            } else {
                accumulate_encoded(w, vector[j], t);
                t += ENCODED;
            }
        }
        ws_ml_kem_inverse_ntt(w->sum);
        add_noise(w, w->sum, r, w->k + i, 2);
        if (i == w->k) {
            ws_ml_kem_add_message(w->sum, w->message);
        }
        for (j = 0; j < 16; j++) {
            uint8_t *const piece = expected ? w->bytes : ciphertext;

            if (i < w->k) {
                ws_ml_kem_compress_10(piece, w->sum + 16 * j);
            } else {
                ws_ml_kem_compress_4(piece, w->sum + 16 * j);
            }
            if (expected) {
                for (n = 0; n < size; n++) {
                    difference |= (uint8_t)(piece[n] ^ *expected++);
                }
            } else {
                ciphertext += size;
            }
        }
    }
    return difference;
}

/* K-PKE.Decrypt, algorithm 15: the message. */
static void decrypt(ws_ml_kem_workspace *w, int16_t polynomial[256], const uint8_t *private_key, const uint8_t *ciphertext)
{
    uint16_t n;
    uint8_t i;

    clear(w->sum);
    for (i = 0; i < w->k; i++) {
        ws_ml_kem_decompress_10(polynomial, ciphertext);
        ws_ml_kem_ntt(polynomial);
        accumulate_encoded(w, polynomial, private_key);
        private_key += ENCODED;
        ciphertext += COMPRESSED_U;
    }
    ws_ml_kem_inverse_ntt(w->sum);
    ws_ml_kem_decompress_4(polynomial, ciphertext);
    for (n = 0; n < 256; n++) {
        w->sum[n] = polynomial[n] - w->sum[n];
    }
    ws_ml_kem_compress_1(w->message, w->sum);
}

int ws_ml_kem_encapsulate(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *public_key, const uint8_t m[32], uint8_t *ciphertext,
                       uint8_t shared[32])
{
    const uint16_t encoded = encoded_bytes(w);
    uint16_t n;

    for (n = 0; n < encoded; n += 24) {
        if (ws_ml_kem_sample(w->some, public_key + n) != 16) {
            return -1;
        }
    }
    copy(w->message, m, 32);
    hash_key(w, public_key, w->seeds);
    make_seeds(w, w->message, w->seeds, 32);
    encrypt(w, vector, public_key, ciphertext, 0);
    copy(shared, w->seeds, 32);
    return 0;
}

void ws_ml_kem_decapsulate(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *private_key,
                           const uint8_t *ciphertext, uint8_t shared[32])
{
    const uint8_t *const public_key = private_key + encoded_bytes(w);
    const uint8_t *const hash = public_key + encoded_bytes(w) + 32;
    const uint8_t *const z = hash + 32;
    uint8_t difference;
    uint8_t i;

    decrypt(w, vector[0], private_key, ciphertext);
    make_seeds(w, w->message, hash, 32);
    difference = encrypt(w, vector, public_key, 0, ciphertext);

    /* J, section 4.1: what is given for a ciphertext that is not the one that the message gives. */
    ws_sha3_init(&w->sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w->sponge, z, 32);
    ws_sha3_absorb(&w->sponge, ciphertext, ciphertext_bytes(w));
    ws_sha3_finish(&w->sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w->sponge, w->message, 32);

    /* All ones where there is a difference: bit 7 of x or of -x is set, unless x is 0. */
    difference = (uint8_t)(difference | (0 - difference)) >> 7;
    difference = (uint8_t)(0 - ws_secret_bit(difference));
    for (i = 0; i < 32; i++) {
        shared[i] = (uint8_t)(w->seeds[i] ^ (difference & (w->seeds[i] ^ w->message[i])));
    }
}

int ws_ml_kem_check(ws_ml_kem_workspace *w, const uint8_t *private_key)
{
    const uint16_t encoded = encoded_bytes(w);

    hash_key(w, private_key + encoded, w->message);
    return ws_equal(w->message, private_key + 2 * encoded + 32, 32) - 1;
}
