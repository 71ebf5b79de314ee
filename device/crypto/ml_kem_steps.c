#include "ml_kem_steps.h"

#include "little_endian.h"
#include "ml_kem_polynomial.h"
#include "secret.h"

/* Bytes of an encoded vector, and of a ciphertext. Chosen and not multiplied: what the MSP430's multiplier gives after a secret product
 * would count as secret for who follows it. */
static uint16_t encoded_bytes(const ws_ml_kem_workspace *w)
{
    return w->k == 2 ? 2 * WS_ML_KEM_ENCODED : 3 * WS_ML_KEM_ENCODED;
}

static uint16_t ciphertext_bytes(const ws_ml_kem_workspace *w)
{
    return w->k == 2 ? 2 * WS_ML_KEM_COMPRESSED_U + WS_ML_KEM_COMPRESSED_V : 3 * WS_ML_KEM_COMPRESSED_U + WS_ML_KEM_COMPRESSED_V;
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

/* A vector of noise, transformed. */
static void make_vector(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *seed)
{
    uint8_t i;

    for (i = 0; i < w->k; i++) {
        ws_ml_kem_clear(vector[i]);
        ws_ml_kem_add_prf(&w->row, vector[i], seed, i, eta_1(w));
        ws_ml_kem_ntt(vector[i]);
    }
}

/* Adds polynomial times an encoded one to the sum. */
static void accumulate_encoded(ws_ml_kem_workspace *w, const int16_t polynomial[256], const uint8_t encoded[WS_ML_KEM_ENCODED])
{
    uint8_t place;

    for (place = 0; place < 64; place += 4) {
        ws_ml_kem_decode(w->row.some, encoded);
        ws_ml_kem_accumulate(w->row.sum + 4 * place, w->row.some, polynomial + 4 * place, place, 4);
        encoded += 24;
    }
}

/* G, section 4.1: SHA3-512 of two pieces, to the seeds. */
static void make_seeds(ws_ml_kem_workspace *w, const uint8_t *first, const uint8_t *second, uint8_t count)
{
    ws_ml_kem_begin_seeds(&w->row, first, second, count);
    ws_sha3_squeeze(&w->row.sponge, w->seeds, 64);
}

/* H of a public key, section 4.1. */
static void hash_key(ws_ml_kem_workspace *w, const uint8_t *public_key, uint8_t hash[32])
{
    ws_sha3_init(&w->row.sponge, WS_SHA3_256_RATE);
    ws_sha3_absorb(&w->row.sponge, public_key, encoded_bytes(w) + 32);
    ws_sha3_finish(&w->row.sponge, WS_SHA3_SUFFIX);
    ws_sha3_squeeze(&w->row.sponge, hash, 32);
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
        private_key += WS_ML_KEM_ENCODED;
        /* e, divided by 2^16 as the products are that are added: times 169, which is 1/2^16 modulo q. */
        ws_ml_kem_clear(w->row.sum);
        ws_ml_kem_add_prf(&w->row, w->row.sum, sigma, w->k + i, eta_1(w));
        for (n = 0; n < 256; n++) {
            w->row.sum[n] *= 169;
        }
        ws_ml_kem_ntt(w->row.sum);
        for (j = 0; j < w->k; j++) {
            ws_ml_kem_accumulate_sampled(&w->row, vector[j], rho, j, i);
        }
        ws_ml_kem_encode_product(t, w->row.sum);
        t += WS_ML_KEM_ENCODED;
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
        const uint8_t size = i < w->k ? WS_ML_KEM_COMPRESSED_U / 16 : WS_ML_KEM_COMPRESSED_V / 16;

        ws_ml_kem_clear(w->row.sum);
        for (j = 0; j < w->k; j++) {
            if (i < w->k) {
                ws_ml_kem_accumulate_sampled(&w->row, vector[j], rho, i, j);
            } else {
                accumulate_encoded(w, vector[j], t);
                t += WS_ML_KEM_ENCODED;
            }
        }
        ws_ml_kem_inverse_ntt(w->row.sum);
        ws_ml_kem_add_prf(&w->row, w->row.sum, r, w->k + i, 2);
        if (i == w->k) {
            ws_ml_kem_add_message(w->row.sum, w->message);
        }
        for (j = 0; j < 16; j++) {
            uint8_t *const piece = expected ? w->row.bytes : ciphertext;

            if (i < w->k) {
                ws_ml_kem_compress_10(piece, w->row.sum + 16 * j);
            } else {
                ws_ml_kem_compress_4(piece, w->row.sum + 16 * j);
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

    ws_ml_kem_clear(w->row.sum);
    for (i = 0; i < w->k; i++) {
        ws_ml_kem_decompress_10(polynomial, ciphertext);
        ws_ml_kem_ntt(polynomial);
        accumulate_encoded(w, polynomial, private_key);
        private_key += WS_ML_KEM_ENCODED;
        ciphertext += WS_ML_KEM_COMPRESSED_U;
    }
    ws_ml_kem_inverse_ntt(w->row.sum);
    ws_ml_kem_decompress_4(polynomial, ciphertext);
    for (n = 0; n < 256; n++) {
        w->row.sum[n] = polynomial[n] - w->row.sum[n];
    }
    ws_ml_kem_compress_1(w->message, w->row.sum);
}

int ws_ml_kem_encapsulate(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *public_key, const uint8_t m[32], uint8_t *ciphertext,
                       uint8_t shared[32])
{
    const uint16_t encoded = encoded_bytes(w);
    uint16_t n;

    for (n = 0; n < encoded; n += 24) {
        if (ws_ml_kem_sample(w->row.some, public_key + n) != 16) {
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
    ws_sha3_init(&w->row.sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w->row.sponge, z, 32);
    ws_sha3_absorb(&w->row.sponge, ciphertext, ciphertext_bytes(w));
    ws_sha3_finish(&w->row.sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w->row.sponge, w->message, 32);

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
