#include "ml_kem_pieces.h"

#include "ml_kem_polynomial.h"
#include "ml_kem_rows.h"
#include "secret.h"

/* Of ML-KEM-512, table 2. */
#define K 2
#define ETA_1 3
#define ETA_2 2

#define RHO (WS_ML_KEM_512_PUBLIC_KEY - 32)

typedef struct {
    ws_ml_kem_row row;
    /* One of r, transformed. */
    int16_t polynomial[256];
    uint8_t rho[32];
    /* H of the key, then what the noise comes of. */
    uint8_t seed[32];
} workspace;

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

/* K-PKE.Encrypt, algorithm 14. */
static void encrypt(workspace *w, const uint8_t m[32])
{
    uint16_t offset = 0;
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
            ws_ml_kem_512_write_ciphertext(offset, w->row.bytes, size);
            offset += size;
        }
    }
}

int ws_ml_kem_512_encapsulate_pieces(const uint8_t m[32], uint8_t shared[32])
{
    workspace w;

    if (take_key(&w) != 0) {
        return -1;
    }
    ws_ml_kem_begin_seeds(&w.row, m, w.seed, 32);
    ws_sha3_squeeze(&w.row.sponge, shared, 32);
    ws_sha3_squeeze(&w.row.sponge, w.seed, 32);
    encrypt(&w, m);
    ws_wipe(&w, sizeof w);
    return 0;
}
