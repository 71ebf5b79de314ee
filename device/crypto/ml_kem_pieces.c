#include "ml_kem_pieces.h"

#include "ml_kem_polynomial.h"
#include "ml_kem_rows.h"
#include "secret.h"

/* Of ML-KEM-512, table 2. */
#define K 2
#define ETA_1 3
#define ETA_2 2

#define RHO (WS_ML_KEM_512_PUBLIC_KEY - 32)
#define V (K * WS_ML_KEM_COMPRESSED_U)

typedef struct {
    uint8_t rho[32];
    ws_ml_kem_row row;
    /* One of r or s, transformed. */
    int16_t polynomial[256];
    /* H of the key, or what the noise comes of. */
    uint8_t seed[32];
} workspace;

/* Decapsulation's. A polynomial of u ends where the sum begins, behind rho and the sponge, which do nothing while there is one. */
typedef union {
    int16_t u[256];
    struct {
        uint8_t message[32];
        uint8_t unused[512 - 32 - 32 - sizeof(ws_sha3_ctx)];
        workspace common;
    } rest;
} decapsulation;

/* Checks the key and hashes it, sections 7.2 and 4.1, and keeps its rho. Returns 0, or -1 where it is refused. */
static int take_key(workspace *w)
{
    uint16_t offset;

    ws_sha3_init(&w->row.sponge, WS_SHA3_256_RATE);
    for (offset = 0; offset < RHO; offset += 24) {
        ws_ml_kem_512_read_key(offset, w->row.bytes, 24);
        if (ws_ml_kem_sample(w->row.some, w->row.bytes) != 16) {
            return -1;
        }
        ws_sha3_absorb(&w->row.sponge, w->row.bytes, 24);
    }
    ws_ml_kem_512_read_key(RHO, w->rho, 16);
    ws_ml_kem_512_read_key(RHO + 16, w->rho + 16, 16);
    ws_sha3_absorb(&w->row.sponge, w->rho, 32);
    ws_sha3_finish(&w->row.sponge, WS_SHA3_SUFFIX);
    ws_sha3_squeeze(&w->row.sponge, w->seed, 32);
    return 0;
}

static void make_polynomial(workspace *w, uint8_t j)
{
    ws_ml_kem_clear(w->polynomial);
    ws_ml_kem_add_prf(&w->row, w->polynomial, w->seed, j, ETA_1);
    ws_ml_kem_ntt(w->polynomial);
}

/* Adds the product with an encoded polynomial of the key to the sum. */
static void accumulate_key(workspace *w, uint8_t j)
{
    uint16_t offset = j == 0 ? 0 : WS_ML_KEM_ENCODED;
    uint8_t place;

    for (place = 0; place < 64; place += 4) {
        ws_ml_kem_512_read_key(offset, w->row.bytes, 24);
        ws_ml_kem_decode(w->row.some, w->row.bytes);
        ws_ml_kem_accumulate(w->row.sum + 4 * place, w->row.some, w->polynomial + 4 * place, place, 4);
        offset += 24;
    }
}

/* What encryption has its pieces taken by: those of the ciphertext from `offset` on, which are in the row's bytes. */
typedef uint8_t take_piece(workspace *w, uint16_t offset, uint8_t count);

static uint8_t write_piece(workspace *w, uint16_t offset, uint8_t count)
{
    ws_ml_kem_512_write_ciphertext(offset, w->row.bytes, count);
    return 0;
}

/* Returns 0 where the piece is that of the ciphertext to be read. */
static uint8_t compare_piece(workspace *w, uint16_t offset, uint8_t count)
{
    uint8_t *const expected = (uint8_t *)w->row.some;
    uint8_t difference = 0;
    uint8_t i;

    ws_ml_kem_512_read_ciphertext(offset, expected, count);
    for (i = 0; i < count; i++) {
        difference |= (uint8_t)(w->row.bytes[i] ^ expected[i]);
    }
    return difference;
}

/* K-PKE.Encrypt, algorithm 14. Returns all bits that `take` returned. */
static uint8_t encrypt(workspace *w, const uint8_t m[32], take_piece *take)
{
    uint16_t offset = 0;
    uint8_t difference = 0;
    uint8_t i;
    uint8_t j = 0;
    uint8_t n;

    make_polynomial(w, j);
    /* u, and at last v. */
    for (i = 0; i <= K; i++) {
        ws_ml_kem_clear(w->row.sum);
        /* Each row begins with the polynomial that the one before it ended with. */
        for (n = 0; n < K; n++) {
            if (n != 0) {
                j ^= 1;
                make_polynomial(w, j);
            }
            if (i < K) {
                ws_ml_kem_accumulate_sampled(&w->row, w->polynomial, w->rho, i, j);
            } else {
                accumulate_key(w, j);
            }
        }
        ws_ml_kem_inverse_ntt(w->row.sum);
        ws_ml_kem_add_prf(&w->row, w->row.sum, w->seed, K + i, ETA_2);
        if (i == K) {
            ws_ml_kem_add_message(w->row.sum, m);
        }
        for (n = 0; n < 16; n++) {
            const uint8_t size = i < K ? WS_ML_KEM_COMPRESSED_U / 16 : WS_ML_KEM_COMPRESSED_V / 16;

            if (i < K) {
                ws_ml_kem_compress_10(w->row.bytes, w->row.sum + 16 * n);
            } else {
                ws_ml_kem_compress_4(w->row.bytes, w->row.sum + 16 * n);
            }
            difference |= take(w, offset, size);
            offset += size;
        }
    }
    return difference;
}

/* The check of a public key, and G of m and H of that: the shared secret, and what the noise comes of. Returns 0, or -1 where the key is
 * refused. */
static int derive(workspace *w, const uint8_t m[32], uint8_t shared[32])
{
    if (take_key(w) != 0) {
        return -1;
    }
    ws_ml_kem_begin_seeds(&w->row, m, w->seed, 32);
    ws_sha3_squeeze(&w->row.sponge, shared, 32);
    ws_sha3_squeeze(&w->row.sponge, w->seed, 32);
    return 0;
}

int ws_ml_kem_512_encapsulate_pieces(const uint8_t m[32], uint8_t shared[32])
{
    workspace w;

    if (derive(&w, m, shared) != 0) {
        return -1;
    }
    encrypt(&w, m, write_piece);
    ws_wipe(&w, sizeof w);
    return 0;
}

/* rho and sigma of d, algorithm 13 step 1. */
static void make_seeds(workspace *w, const uint8_t d[32])
{
    w->row.bytes[0] = K;
    ws_ml_kem_begin_seeds(&w->row, d, w->row.bytes, 1);
    ws_sha3_squeeze(&w->row.sponge, w->rho, 32);
    ws_sha3_squeeze(&w->row.sponge, w->seed, 32);
}

/* The rest of algorithm 13 but for s. */
static void generate(workspace *w)
{
    uint8_t *const encoded = (uint8_t *)w->row.sum;
    uint16_t offset = 0;
    uint16_t n;
    uint8_t i;
    uint8_t j = 0;

    make_polynomial(w, j);
    for (i = 0; i < K; i++) {
        /* e, divided by 2^16 as the products are that are added: times 169, which is 1/2^16 modulo q. */
        ws_ml_kem_clear(w->row.sum);
        ws_ml_kem_add_prf(&w->row, w->row.sum, w->seed, K + i, ETA_1);
        for (n = 0; n < 256; n++) {
            w->row.sum[n] *= 169;
        }
        ws_ml_kem_ntt(w->row.sum);
        /* As in encryption; the matrix is transposed there. */
        for (n = 0; n < K; n++) {
            if (n != 0) {
                j ^= 1;
                make_polynomial(w, j);
            }
            ws_ml_kem_accumulate_sampled(&w->row, w->polynomial, w->rho, j, i);
        }
        ws_ml_kem_encode_product(encoded, w->row.sum);
        for (n = 0; n < WS_ML_KEM_ENCODED; n += 24) {
            ws_ml_kem_512_write_key(offset, encoded + n, 24);
            offset += 24;
        }
    }
    ws_ml_kem_512_write_key(RHO, w->rho, 16);
    ws_ml_kem_512_write_key(RHO + 16, w->rho + 16, 16);
}

void ws_ml_kem_512_keygen_pieces(const uint8_t private_key[WS_ML_KEM_512_SEED])
{
    workspace w;

    make_seeds(&w, private_key);
    generate(&w);
    ws_wipe(&w, sizeof w);
}

void ws_ml_kem_512_keygen_pieces_seeded(const uint8_t sigma[32], const uint8_t rho[32])
{
    workspace w;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        w.rho[i] = rho[i];
        w.seed[i] = sigma[i];
    }
    generate(&w);
    ws_wipe(&w, sizeof w);
}

/* Reads what 16 times `size` bytes of the ciphertext are. */
static void read_pieces(uint8_t *to, uint16_t offset, uint8_t size)
{
    uint8_t n;

    for (n = 0; n < 16; n++) {
        ws_ml_kem_512_read_ciphertext(offset, to, size);
        offset += size;
        to += size;
    }
}

/* K-PKE.Decrypt, algorithm 15, with sigma in the seed: the message. */
static void decrypt(decapsulation *d)
{
    workspace *const w = &d->rest.common;
    uint8_t *const encoded = (uint8_t *)w->polynomial;
    /* What is decompressed lies at the end of where it goes. */
    uint8_t *const end = (uint8_t *)(d->u + 256);
    uint16_t n;
    uint8_t i;

    ws_ml_kem_clear(w->row.sum);
    for (i = 0; i < K; i++) {
        make_polynomial(w, i);
        ws_ml_kem_encode(encoded, w->polynomial);
        read_pieces(end - WS_ML_KEM_COMPRESSED_U, i == 0 ? 0 : WS_ML_KEM_COMPRESSED_U, WS_ML_KEM_COMPRESSED_U / 16);
        ws_ml_kem_decompress_10(d->u, end - WS_ML_KEM_COMPRESSED_U);
        ws_ml_kem_ntt(d->u);
        for (n = 0; n < 64; n += 4) {
            ws_ml_kem_decode(w->row.some, encoded + 6 * n);
            ws_ml_kem_accumulate(w->row.sum + 4 * n, w->row.some, d->u + 4 * n, (uint8_t)n, 4);
        }
    }
    ws_ml_kem_inverse_ntt(w->row.sum);
    read_pieces(end - WS_ML_KEM_COMPRESSED_V, V, WS_ML_KEM_COMPRESSED_V / 16);
    ws_ml_kem_decompress_4(d->u, end - WS_ML_KEM_COMPRESSED_V);
    for (n = 0; n < 256; n++) {
        w->row.sum[n] = d->u[n] - w->row.sum[n];
    }
    ws_ml_kem_compress_1(d->rest.message, w->row.sum);
}

/* J, section 4.1: what is given for a ciphertext that is not the one that the message gives. */
static void reject(workspace *w, const uint8_t z[32], uint8_t shared[32])
{
    uint16_t offset;

    ws_sha3_init(&w->row.sponge, WS_SHAKE256_RATE);
    ws_sha3_absorb(&w->row.sponge, z, 32);
    for (offset = 0; offset < WS_ML_KEM_512_CIPHERTEXT; offset += 24) {
        ws_ml_kem_512_read_ciphertext(offset, w->row.bytes, 24);
        ws_sha3_absorb(&w->row.sponge, w->row.bytes, 24);
    }
    ws_sha3_finish(&w->row.sponge, WS_SHAKE_SUFFIX);
    ws_sha3_squeeze(&w->row.sponge, shared, 32);
}

int ws_ml_kem_512_decapsulate_pieces(const uint8_t private_key[WS_ML_KEM_512_SEED], uint8_t shared[32])
{
    decapsulation d;
    workspace *const w = &d.rest.common;
    uint8_t *const message = d.rest.message;
    uint8_t difference;
    uint8_t i;
    int refused;

    make_seeds(w, private_key);
    decrypt(&d);
    refused = derive(w, message, shared);
    if (refused == 0) {
        difference = encrypt(w, message, compare_piece);
        reject(w, private_key + 32, message);
        /* All ones where there is a difference: bit 7 of x or of -x is set, unless x is 0. */
        difference = (uint8_t)(difference | (0 - difference)) >> 7;
        difference = (uint8_t)(0 - ws_secret_bit(difference));
        for (i = 0; i < 32; i++) {
            shared[i] = (uint8_t)(shared[i] ^ (difference & (shared[i] ^ message[i])));
        }
    }
    ws_wipe(&d, sizeof d);
    return refused;
}
